"""Event templates of life at home, in the notation of `synthetic_words`."""

EVENTS = """
= Which means of transport did {who} get? | transport
* car | a new car | a {color} {model}
V model: hatchback, pickup, convertible, roadster, minivan
T I finally bought a {color} {model} {when}, from the dealer on {street}.
T Big news: {when} I bought a {color} {model}! The dealer on {street} was very patient with me.
R A {model}! Did the dealer on {street} let you haggle?
S A little. They took my old one in exchange, and I named the new one {nick}.
F {who} bought a {color} {model} from the dealer on {street}.
E {who} named the {model} {nick}.
L What colour is the {model} that {who} bought? = {color}
M What did {who} name the {model}? = {nick}
P Which vehicle did {who} purchase? = a {color} {model}
w When did {who} become an automobile owner?
W When did {who} buy the {model}?
* bicycle | a second-hand bicycle | a bicycle with {gears} gears
V gears: 7, 18, 21, 24, 27
T I picked up a second-hand bicycle {when}, {gears} gears, and {friend} threw in a basket for free.
T So {friend} sold me an old bicycle {when}. It has {gears} gears and a squeaky saddle.
R {gears} gears is plenty for our hills. Is the frame in good shape?
S A bit rusty. I oiled the chain and now it glides to the office in twenty minutes.
F {who} got an old bicycle with {gears} gears from {friend}.
L How many gears does the bicycle have that {who} got from {friend}? = {gears}
P What used two-wheeler does {who} now ride? = a bicycle with {gears} gears
w Since when has {who} owned a two-wheeler?
O Would {who} be interested in a repair course for cyclists? = Likely yes, the old bicycle is rusty

= Which animals live with {who}? | animal
* dog | a dog from the shelter | a {breed} called {pet}
V breed: terrier, beagle, spaniel, greyhound, dachshund
T We brought home a {breed} from the shelter {when}! The kids want to call it {pet}.
T Meet {pet}, our {breed}. The shelter let us take it home {when}.
R A {breed}, how lovely! Does {pet} sleep through the night?
S Hardly. Two chewed slippers so far, and the sofa is no longer ours.
F {who} took in a {breed} called {pet} from the shelter.
L What breed is {pet}, whom {who} took home from the shelter? = {breed}
P Which puppy did the family of {who} adopt? = a {breed} called {pet}
w On which date was {who} joined by a puppy?
W When did {who} bring {pet} home from the shelter?
O Would {who} be a good person to ask about walking routes? = Likely yes, there is a {breed} at home
* parrot | a talkative parrot | a parrot
V phrase: good morning boss, pass the biscuits, mind the gap, hello sailor
T My aunt left me her parrot {when}, and all day long it shouts "{phrase}".
T I inherited a parrot {when}. It only says "{phrase}", from sunrise to bedtime.
R "{phrase}"! How old is that parrot?
S Nearly thirty. I moved the cage to the hall so that I can take calls in peace.
F {who} inherited a parrot that says "{phrase}".
E {who} keeps the cage of the parrot in the hall.
L What does the parrot of {who} say? = {phrase}
P Which sentence does the feathered companion of {who} repeat? = {phrase}
w On which date did the bird come to {who}?

= What has {who} made in the kitchen? | kitchen
* cake | a birthday cake | a {flavor} cake
V flavor: lemon, walnut, carrot, poppy seed, hazelnut
T I baked a {flavor} cake for {friend} {when}, three layers, and it leaned like a tower.
T {When} was the birthday of {friend}, so I baked a {flavor} cake, three layers high.
R Three layers! Did {friend} like the {flavor} cake?
S There was nothing left but crumbs. I used yoghurt in place of butter.
F {who} baked a {flavor} cake with three layers for {friend}.
E {who} used yoghurt in the {flavor} cake in place of butter.
L What kind of cake did {who} bake for {friend}? = {flavor}
M What did {who} use in the cake in place of butter? = yoghurt
P Which dessert was prepared by {who} as a treat? = a {flavor} cake
W When did {who} bake the cake for {friend}?
* soup | a big pot of soup | {veg} soup
V veg: pumpkin, leek, beetroot, lentil, parsnip
T I cooked a huge pot of {veg} soup {when} and carried half of it up to my old neighbour.
T {When} I made {veg} soup for a whole week. My old neighbour upstairs got half the pot.
R Is that the {veg} soup with ginger? Your neighbour must adore you.
S With ginger and lime, yes. The bowl came back washed, with a chocolate bar in it.
F {who} cooked {veg} soup and gave half of it to an old neighbour.
L Which soup did {who} share with the neighbour? = {veg} soup
P What dish did {who} bring to the elderly person living above? = {veg} soup
w When did {who} prepare a meal to be shared with an elderly person?
W When did {who} cook the pot of {veg} soup?
O Is {who} considerate towards older people? = Yes, for example the shared soup
* jam | home-made jam | {fruit} jam
V fruit: plum, apricot, quince, gooseberry, rhubarb
T We boiled {num} jars of {fruit} jam {when}; the kitchen floor is still sticky.
T {num} jars of {fruit} jam stand on my shelf since I spent {when} at the stove.
R {num} jars! Save one {fruit} for me, please.
S Of course. The lids are red and the labels are in my worst handwriting.
F {who} made {num} jars of {fruit} jam.
L How many jars of {fruit} jam did {who} make? = {num}
P What sweet spread has {who} preserved at home? = {fruit} jam

= What needed repair at {who}'s house? | repair
* boiler | a broken boiler | the boiler
V cost: 180, 240, 310, 420, 560
T The boiler died {when}, and the plumber charged me {cost} euros for a valve as small as a thumb.
T No hot water: the boiler gave up {when}. A plumber called {friend} came, {cost} euros for one valve.
R {cost} euros for a valve? I should have become a plumber.
S I showered at the gym for three days, so I am just happy it hums again.
F The boiler of {who} broke and the plumber charged {cost} euros.
E {who} showered at the gym while the boiler was broken.
L How much did the plumber charge {who} for the boiler? = {cost} euros
M Where did {who} shower for three days? = at the gym
P How expensive was it to fix the heating of {who}? = {cost} euros
w On which date did the heating of {who} fail?
W When did the boiler of {who} break?
* roof | a leaking roof | the roof
V room: attic, nursery, pantry, study
T Rain came through the roof into the {room} {when}. I counted {num} drips and ran out of buckets.
T {When} the storm lifted some tiles, and now it drips on my head in the {room}. {num} buckets!
R In the {room} of all places! Has the roofer been?
S {friend} climbed up with a tarp. The proper job has to wait for dry weather.
F Rain leaked through the roof of {who} into the {room}.
E {friend} put a tarp on the roof for {who}.
L How many buckets or drips did {who} count in the {room}? = {num}
P Where did water get inside the home of {who}? = into the {room}
W When did it drip into the {room} at {who}'s place?
* fence | a new fence | the fence
V wood: larch, cedar, oak, chestnut
T I put up a new {wood} fence along the lane {when}; {friend} held the posts and I swung the hammer.
T {When} {friend} and I hammered a {wood} fence together, the whole length of the lane.
R {wood} lasts for ever. Are you painting it?
S Only oil. My thumbs have seen better days, though.
F {who} built a {wood} fence along the lane with {friend}.
L Which wood did {who} use for the fence along the lane? = {wood}
P Who assisted {who} in setting a barrier at the edge of the property? = {friend}
O Is {who} handy with tools? = Yes, {who} built a fence

= How has {who} changed the place they live in? | interior
* sofa | a new sofa | a {color} sofa
T A {color} sofa arrived {when}. Four men, two staircases, one scratched wall.
T My {color} sofa got delivered {when}, finally, after {num} weeks of waiting!
R {color} is bold for a sofa. Does it go with the rug?
S Not in the least, and I love it. The cushions swallow every remote control.
F A {color} sofa was delivered to {who}.
L What colour is the sofa that got delivered to {who}? = {color}
P Which piece of furniture did {who} receive? = a {color} sofa
w On which day did {who} receive the couch?
* paint | painting a bedroom | {color} walls in the bedroom
T I painted the bedroom {color} {when}. {friend} came over and did the ceiling on stilts, nearly.
T {When} the bedroom went {color}! I rolled the walls while {friend} did the corners.
R {color} walls, I want a photo. Did you move all the furniture out?
S Everything is in the corridor under sheets. I slept on an air mattress.
F {who} painted the bedroom {color} with the help of {friend}.
E {who} slept on an air mattress during the painting.
L Which colour did {who} paint the bedroom? = {color}
M What did {who} sleep on while the furniture was in the corridor? = an air mattress
P Who gave {who} a hand with the decorating? = {friend}
w When was {who} busy decorating?
W When did {who} paint the bedroom?
* shelf | a book shelf | a shelf from {wood2} boards
V wood2: birch, beech, walnut, pine
T Guess who built a shelf from {wood2} boards {when}. It holds {num} books and it is nearly level.
T The shelf is up since {when}: {wood2} boards, room for {num} books, only one hole too many.
R {num} books, and all of them read? I am impressed by the {wood2}.
S Half of them. The cookbooks got the lowest board since they weigh the most.
F {who} built a shelf of {wood2} boards for {num} books.
L How many books does the {wood2} shelf of {who} hold? = {num}
P What furniture was self-made by {who}? = a shelf of {wood2} boards

= What does {who} grow? | garden
* tomatoes | tomatoes on the balcony | {num} tomato plants
T I harvested the first tomatoes from the balcony {when}, {num} of them, all crooked.
T First tomatoes {when}! {num} crooked little things, straight from the balcony into a salad.
R {num} already? Mine are still green. What do you feed them?
S Coffee grounds and long speeches. The basil next to them is furious.
F {who} harvested {num} tomatoes on the balcony.
E {who} feeds the tomatoes coffee grounds.
L How many tomatoes did {who} harvest from the balcony? = {num}
M What does {who} feed the tomatoes? = coffee grounds
P Which sauce ingredient could {who} pick at home? = tomatoes
w When could {who} pick a sauce ingredient at home?
W When did {who} harvest the first tomatoes?
* tree | planting a tree | a {tree} tree
V tree: cherry, pear, fig, mulberry, medlar
T We planted a {tree} tree behind the shed {when}, for the birth of little {friend}.
T {When} I dug a hole behind the shed and planted a {tree} tree. It is for little {friend}.
R A {tree} tree, what a good idea! When will it bear fruit?
S In four years, they say. Until then the blackbirds and I wait together.
F {who} planted a {tree} tree behind the shed for {friend}.
L Which tree did {who} plant behind the shed? = a {tree} tree
P In whose honour has {who} done some gardening? = {friend}
W When did {who} plant the {tree} tree?
O Does {who} think in long terms? = Likely yes, {who} planted a tree that bears fruit after years
"""
