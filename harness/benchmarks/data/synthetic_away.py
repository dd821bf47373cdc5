"""Event templates of life outside the house, in the notation of `synthetic_words`."""

EVENTS = """
= Which courses has {who} joined? | course
* pottery | a pottery class | pottery
V pot: teapot, vase, butter dish, salad bowl
T I signed up for pottery {when}, and my first {pot} looks like a melted hat.
T {When} I had my first pottery evening. The {pot} I threw collapsed twice.
R A {pot} with character! Who teaches the pottery?
S A strict lady called {friend}. She says the clay can smell fear.
F {who} joined a pottery class and made a {pot}.
E {friend} teaches the pottery class of {who}.
L What did {who} make first in pottery? = a {pot}
M Who teaches {who}, with clay that can smell fear? = {friend}
P Which ceramics project was {who} working at? = a {pot}
w On which date did {who} take up ceramics?
W When did {who} start pottery?
* language | an evening class in {lang} | {lang}
V lang: Finnish, Portuguese, Welsh, Japanese, Greek
T My {lang} evening class began {when}; the teacher speaks so fast that I only caught the word for bread.
T {When} was lesson one of {lang}. I can now order bread, and nothing else.
R {lang}! Say something, go on.
S Not before lesson ten. {friend} drills the verbs with me on the bus.
F {who} takes an evening class in {lang}.
E {friend} practises verbs with {who} on the bus.
L Which language does {who} learn in the evening class? = {lang}
M Who drills the verbs with {who} on the bus? = {friend}
P What foreign tongue is {who} studying? = {lang}
W When did the {lang} lessons of {who} begin?
O Might {who} plan a journey to a country where {lang} is spoken? = Possibly, {who} learns {lang}
* dance | dancing lessons | {dance}
V dance: tango, salsa, foxtrot, swing
T {friend} dragged me to a {dance} night {when}. I stepped on {num} toes, and I am going again.
T I tried {dance} {when}! {num} bruised toes, none of them mine. {friend} still speaks to me.
R {dance}? You, who hid at every wedding?
S People change. I even ordered proper shoes with leather soles.
F {who} went to a {dance} night with {friend}.
L Whose idea was the {dance} night of {who}? = {friend}'s
P What kind of ballroom hobby has {who} discovered? = {dance}
W When did {who} try {dance}?

= Where has {who} been? | travel
* lake | a camping trip | a lake near {town}
V count: two, three, four, five
T We camped {count} nights at a lake near {town} {when}, and a fox stole our sausages.
T Back from {town}! {When} we slept {count} nights in the tent by the lake. A fox took the sausages.
R A fox! Was the water in the lake near {town} warm?
S Like ice. I swam once, screamed once, and made cocoa for everybody.
F {who} camped {count} nights at a lake near {town}.
E A fox stole sausages from {who}'s tent.
L How many nights did {who} camp at the lake near {town}? = {count}
P Which wild animal robbed {who} outdoors of food? = a fox
w When was {who} robbed of food by a wild animal?
W When did {who} camp near {town}?
* island | an island holiday | an island with {animal}
V animal: puffins, seals, wild goats, donkeys
T I took the ferry to the island {when} and sat among {animal} until my nose was red.
T {When} I was on the island, you know, the one with the {animal}. The ferry rolled like a barrel.
R Did the {animal} come close? I was sick on that ferry.
S An arm's length away. I filled a whole sketchbook and lost one glove.
F {who} took the ferry to an island with {animal}.
E {who} filled a sketchbook on the island.
L Which animals did {who} see on the island? = {animal}
M What did {who} fill, and what got lost, on the ferry trip? = a sketchbook; a glove
P What creatures could {who} observe during the sea crossing vacation? = {animal}
w On which date was {who} on vacation by the sea?
* museum | a museum visit | the museum in {town}
V exhibit: clocks, kites, microscopes, puppets, maps
T I spent {when} at the museum in {town}. They have a hall with {num} old {exhibit}.
T The museum in {town} has {num} old {exhibit}, did you know? I stood there {when} with my mouth open.
R {num} {exhibit}! I only remember the café there.
S The café is still good. I bought a postcard for your fridge.
F {who} saw {num} old {exhibit} at the museum in {town}.
L How many {exhibit} does the museum in {town} have that {who} saw? = {num}
P What collection impressed {who} at the exhibition? = old {exhibit}
W When was {who} at the museum in {town}?

= Which sports does {who} do? | sports
* climbing | indoor climbing | climbing
V height: 9, 12, 14, 16
T I went climbing in the new hall {when}: {height} metres up, and my knees played the maracas.
T {friend} took me climbing {when}. The hall has walls of {height} metres; I hugged every one of them.
R {height} metres! I get dizzy on a chair.
S The rope holds more than my nerves do. I bought chalk and a helmet straight away.
F {who} went climbing in a hall with walls of {height} metres.
E {who} bought chalk and a helmet.
L How high are the walls where {who} went climbing? = {height} metres
P What vertical challenge did {who} attempt? = climbing walls of {height} metres
w When did {who} attempt a vertical challenge?
W When did {who} go climbing in the hall?
O Is {who} afraid of heights? = Somewhat, knees trembled, yet {who} bought equipment
* swimming | morning swimming | swimming
V laps: 20, 30, 40, 50
T I swim before work now. {When} I managed {laps} lengths without stopping at all.
T {laps} lengths without a pause {when}! The early pool crowd clapped, all two of them.
R {laps} lengths before breakfast? I was still snoring.
S The trick is to leave the alarm clock in the bathroom.
F {who} swims before work and managed {laps} lengths.
E {who} leaves the alarm clock in the bathroom.
L How many lengths did {who} swim without stopping? = {laps}
M Where does {who} leave the alarm clock? = in the bathroom
P What physical exercise fills the mornings of {who}? = swimming

= What has {who} achieved at work? | work
* promotion | a promotion | promoted to {role}
V role: team lead, head of archives, senior nurse, shift manager, chief gardener
T They made me {role} {when}! More meetings, a bigger desk, and a plant I must not kill.
T I got promoted {when}: {role}! {friend} handed me the keys and a very thirsty plant.
R {role}, congratulations! Is the pay better as well?
S By a little. I will spend it on lunch for the crew.
F {who} was promoted to {role}.
L To what was {who} promoted, a bigger desk included? = {role}
P Which career step did {who} celebrate? = becoming {role}
w On which date did {who} celebrate a career step?
W When was {who} made {role}?
* talk | a talk at a conference | a talk on {subject}
V subject: bees, tides, bridges, fonts, compost
T I gave a talk on {subject} {when}, {num} people in the room, and the microphone died halfway.
T {When} I had to speak about {subject} before {num} people. The microphone lasted four minutes.
R {num} people! Did anybody ask hard questions about {subject}?
S One professor. I answered with a joke and a promise to write an email.
F {who} gave a talk on {subject} to {num} people.
L Before how many people did {who} speak about {subject}? = {num}
P Which topic did {who} present to an audience? = {subject}
W When did {who} give the talk on {subject}?

= What is new in {who}'s family? | family
* baby | a baby in the family | a niece called {baby}
V baby: Wilhelmina, Clementine, Philippa, Rosalind
T My sister had her baby {when}! A girl, {baby}, with the lungs of a trumpet player.
T I am an aunt-or-uncle-shaped person since {when}: little {baby} is here, my sister is fine.
R Little {baby}! Give your sister a hug from me.
S I held the tiny thing for an hour and my arm is still numb.
F The sister of {who} had a baby girl called {baby}.
L What is the baby of {who}'s sister called? = {baby}
P Which niece was born into the family of {who}? = {baby}
w Since when has {who} had a niece?
W When did the sister of {who} have {baby}?
* grandpa | grandfather's birthday | grandfather turned {age}
V age: 85, 88, 90, 92, 95
T Grandpa turned {age} {when} and danced with every nurse in the home.
T {When} we sang for grandpa. {age} years old, and he cheated at cards all afternoon.
R {age}! What do you give a man who has everything?
S A radio with very large buttons. He has found the jazz station already.
F The grandpa of {who} turned {age}.
E {who} gave grandpa a radio with large buttons.
L How old did the grandpa of {who} turn? = {age}
M What did {who} give grandpa? = a radio with large buttons
P Which anniversary did the oldest relative of {who} reach? = {age} years
* teen | a teenager's exam | a nephew who passed maths
V grade: a B plus, a seventy, an A minus, a two
T My nephew {friend} passed his maths exam {when}, with {grade}, after all those evenings at our table.
T {grade} in maths! {friend} rang {when}, my nephew, the one I coached all winter.
R With {grade}, well done to both of you. Was it the fractions?
S The fractions, and the snacks between them.
F {friend}, the nephew of {who}, passed the maths exam with {grade}.
L What did nephew {friend} get in maths, according to {who}? = {grade}
P Which youngster did {who} tutor? = {friend}
W When did {who}'s nephew {friend} pass maths?
O Might {who} be a good teacher? = Likely yes, the coached nephew passed

= Which stories has {who} followed? | culture
* novel | a novel | a novel about {hero}
V hero: a lighthouse keeper, two beekeepers, a forger, a lost orchestra, a river pilot
T I finished that novel about {hero} {when}, {pages} pages, and cried on the tram.
T {When} I read the last of {pages} pages about {hero}. The whole tram saw me cry.
R The one about {hero}? Lend it to me!
S It is yours. Mind the tea stain on the cover.
F {who} read a novel of {pages} pages about {hero}.
L How many pages has the novel about {hero} that {who} finished? = {pages}
P What book moved {who} to tears in public? = a novel about {hero}
W When did {who} finish the {pages} pages about {hero}?
V pages: 412, 530, 618, 744
* film | an old film | a film about {plot}
V plot: smugglers, twins, a comet, a chess cheat, a bakery
T We watched an old film about {plot} {when}, and {friend} fell asleep before the second reel.
T {When} the open-air screen showed that old film about {plot}. {friend} snored through it.
R Poor {friend}. Was the film about {plot} any good?
S The ending made no sense, but the costumes were a feast.
F {who} watched an old film about {plot} with {friend}.
L Who slept during the film about {plot} that {who} watched? = {friend}
P Which movie did {who} see? = an old film about {plot}
w On which date did {who} see a movie?
W When did {who} watch the film about {plot}?

= Which music plays a part in {who}'s life? | music
* guitar | an old guitar | a guitar
V price: 45, 60, 75, 90
T I found a guitar at the flea market {when} for {price} euros, one string short.
T Flea market luck {when}: a guitar for {price} euros! It lacks a string and has a sticker of a {nick}.
R {price} euros, a steal! Can you still play our song?
S Three chords of it. My fingertips are on fire.
F {who} found a guitar at the flea market for {price} euros.
L How many euros did {who} pay for the guitar at the flea market? = {price}
P Which instrument did {who} acquire cheaply? = a guitar
w When did {who} acquire an instrument?
W When did {who} find the guitar at the flea market?
* concert | a concert | a concert of {band}
V band: the Velvet Otters, Paper Lanterns, the Brass Commuters, Northern Teacups
T I saw {band} live {when}, front row, and my ears still ring.
T {When} I stood in the front row for {band}. I can't hear myself type!
R {band}! Did they play the long one at the end?
S Twice. {friend} caught the drumstick and will not share it.
F {who} saw {band} live from the front row.
E {friend} caught a drumstick at the concert.
L Which band did {who} see live from the front row? = {band}
M Who caught the drumstick of {band}, as {who} tells? = {friend}
P What gig was {who} attending? = a concert of {band}
w On which date was {who} at the gig?

= How does {who} help other people? | community
* beach | cleaning the beach | cleaning the beach
T We cleaned the beach {when} and filled {num} bags, mostly bottle caps and one boot.
T {num} bags of rubbish from the beach {when}, {friend} and I, backs like question marks.
R {num} bags! Who organised the beach day?
S The sailing club. They gave us hot dogs and a certificate.
F {who} cleaned the beach and filled {num} bags.
L How many bags did {who} fill on the beach? = {num}
P What quantity of litter did {who} collect along the shore? = {num} bags
O Does {who} care about the environment? = Yes, {who} cleaned a beach
* library | reading to children | reading at the library
V story: dragon, badger, pirate, snowman
T I read the {story} story to the kids at the library {when}; they made me roar it twice.
T {When} was my first shift at the library, reading to the kids. The {story} story won.
R You and the {story} voice! Were there many kids?
S About a dozen, plus one grandfather who asked for an encore.
F {who} reads to the kids at the library, the {story} story for example.
L Which story did {who} read to the kids at the library? = the {story} story
P What tale has {who} told the children as a volunteer? = the {story} story
w On which date was {who} active as a volunteer?
W When did {who} read the {story} story at the library?
"""
