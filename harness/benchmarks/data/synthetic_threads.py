"""Causal threads, yearly events and names beyond ASCII, in the notation of `synthetic_words`."""

CHAINS = """
= Why did {who} sell the drum kit? = because of the sprained wrist
* wrist | a sprained wrist | a sprained wrist
T I slipped on the wet steps of the {place} {when} and sprained my wrist. Typing with one hand, sorry.
R Ouch, your wrist! Did you get it X-rayed after the {place}?
S Yes, nothing is broken. The doctor at the clinic was called {friend}, and very funny.
F {who} slipped on the steps of the {place} and sprained a wrist.
L Where did {who} slip and sprain a wrist? = on the steps of the {place}
P Which injury has {who} suffered? = a sprained wrist
W When did {who} slip on the steps of the {place}?
V place: station, theatre, post office, town hall
* drums | selling the drum kit | the drum kit
T I sold the drum kit {when}. The joint never healed well enough for two hours of banging.
R The drum kit, really? The neighbours must have thrown a party.
S {friend2} bought it for the youth centre, so at least it stays loud.
F {who} sold the drum kit to {friend2} for the youth centre.
L Who bought the drum kit of {who} for the youth centre? = {friend2}
P Which musical equipment has {who} given up? = the drum kit
W When did {who} sell the drum kit?

= What led {who} to start a garlic and radish plot? = the supermarket near the flat closed
* shop | the closing of the supermarket | the supermarket closed
T The supermarket on {street} closed for good {when}. Now it is {num} minutes to the next carrots.
R No supermarket on {street}? Where do you go now?
S To the market hall, with a trolley like a granny. The wheels sing.
F The supermarket on {street} near {who}'s flat closed.
L How many minutes is {who} from carrots since the supermarket on {street} closed? = {num}
P Which store went out of business close to {who}? = the supermarket on {street}
* plot | an allotment | an allotment
T I rented plot {num2} at the allotments {when}: radishes, garlic and one brave lettuce.
R Plot {num2}, is that the one with the crooked hut?
S Crooked and full of spiders, with a rain barrel of my own.
F {who} rented plot {num2} at the allotments.
L Which plot did {who} rent at the allotments? = plot {num2}
P On what land does {who} raise vegetables? = plot {num2} of the allotments
W When did {who} rent the plot at the allotments?

= What did the missed flight of {who} bring about? = friendship with {friend} and a visit
* flight | a missed flight | a missed flight
T I missed my flight to {town} {when} and spent the night at gate {num} beside a violinist, {friend}.
R Gate {num} all night! Did {friend} play for you at least?
S Until two. We shared one blanket and a bag of almonds.
F {who} missed a flight to {town} and met the violinist {friend} at gate {num}.
L At which gate did {who} meet the violinist? = gate {num}
P Which plane journey failed for {who}? = the flight to {town}
W When did {who} miss the flight to {town}?
* visit | a visit from a violinist | a visit from {friend}
T {friend} came to stay with us {when}, violin and all. We have been close ever since that airport.
R The one from the airport! Did {friend} bring more almonds?
S A kilo of them. The cat hid in the wardrobe during the scales.
F {friend} the violinist stayed with {who}.
L Who stayed with {who}, violin and all? = {friend}
P Which guest did {who} host? = {friend}, a violinist
W When did {friend} come to stay with {who}?

= Why does {who} no longer drink coffee? = because of sleepless nights
* sleep | bad sleep | bad sleep
T I lay awake until four {when}, for the {nth} night in a row. The ceiling and I are on first-name terms.
R The {nth} night in a row! Have you tried counting sheep?
S The sheep are tired of me. A woman at the pharmacy lent me a book on it.
F {who} lay awake until four for the {nth} night in a row.
L Until what time did {who} lie awake the {nth} night in a row? = until four
P What trouble with resting did {who} report? = being awake until four
V nth: third, fourth, fifth, sixth
* coffee | giving up coffee | no more coffee
T {When} I gave my espresso machine to {friend}. Only {drink} tea from now on, and eight hours a night!
R You without espresso, I need to sit down. How is the {drink} tea?
S It tastes of wet hay, but I dream again.
F {who} gave the espresso machine to {friend} and drinks {drink} tea.
L Who got the espresso machine of {who}? = {friend}
P Which hot beverage does {who} prefer these days? = {drink} tea
W When did {who} give away the espresso machine?
V drink: nettle, chamomile, rooibos, fennel

= What did {who} do with the prize from the raffle? = {who} paid for a sewing machine
* raffle | a raffle prize | a raffle prize
T I won {prize} euros in the raffle of the fire brigade {when}! Ticket {num}, my lucky number.
R {prize} euros! And ticket {num}, you and your numbers.
S I almost gave that ticket to the boy at the door.
F {who} won {prize} euros in the raffle of the fire brigade with ticket {num}.
L With which ticket did {who} win the raffle of the fire brigade? = ticket {num}
P What sum did fortune bring {who}? = {prize} euros
W When did {who} win the raffle?
V prize: 150, 250, 400, 600
* sewing | a sewing machine | a sewing machine
T The sewing machine is here since {when}, paid in full with my lucky money. First project: {item}.
R A sewing machine! Are the {item} for me?
S If you can live with one sleeve longer than the other.
F {who} got a sewing machine and started with {item}.
L What is the first project at the sewing machine of {who}? = {item}
P Which appliance for making clothes has {who} acquired? = a sewing machine
V item: pyjamas, curtains, overalls, aprons

= Why did {who} move in with {friend}? = because the landlord ended the lease
* lease | the end of a lease | the end of the lease
T My landlord wrote {when}: the lease ends in {month}, the nephew wants the flat.
R In {month}? Can the landlord just end the lease like that?
S The tenants' union says yes. I have begun to hoard cardboard boxes.
F The landlord of {who} ends the lease in {month}.
L In which month does the lease of {who} end? = {month}
P What bad news did {who} receive about accommodation? = the lease ends in {month}
W When did the landlord of {who} write?
* move | moving in with {friend} | moving in with {friend}
T {When} I carried the last box into {friend}'s place on {street}. We share a fridge and {n2} cats now.
R Sharing with {friend}! Who does the dishes on {street}?
S Whoever loses at cards, so that is me until spring.
F {who} lives with {friend} on {street} now.
L On which street do {who} and {friend} share a fridge? = {street}
P Who is the new flatmate of {who}? = {friend}
W When did {who} carry the last box to {friend}'s place?
V n2: two, three, four

= What made {who} start a repair café? = the broken toaster that nobody would mend
* toaster | a broken toaster | a broken toaster
T My toaster died {when}. {n3} shops told me to throw it away, and I got stubborn.
R {n3} shops! What is wrong with that toaster?
S One tiny spring. {friend} the watchmaker found it with tweezers.
F {n3} shops refused to mend the toaster of {who}.
L How many shops told {who} to throw the toaster away? = {n3}
P Which kitchen device of {who} stopped working? = the toaster
V n3: Two, Three, Four, Five
* repair | a repair café | a repair café
T We opened the repair café in the {hall} {when}: {num} lamps and a cuckoo clock on day one.
R {num} lamps on day one! Is there cake in the {hall} too?
S Naturally. Nobody solders on an empty stomach.
F {who} opened a repair café in the {hall}.
L Where did {who} open the repair café? = in the {hall}
P What neighbourhood project has {who} founded? = a repair café
W When did {who} open the repair café?
V hall: scout hut, old bakery, parish hall, bus depot
"""

SERIES = """
= -
* run | the Harbour Run
V p1: 41st, 57th, 63rd, 72nd
V p2: 9th, 12th, 17th, 20th
T The Harbour Run was {when}! I came in {p1}, with a cramp and the banana of a stranger.
T The Harbour Run again {when}, and this time I came in {p2}! No cramp, no banana.
R You and the Harbour Run! How was the last hill?
F {who} came in {p} in the Harbour Run of {y}.
L In what position did {who} come in at the Harbour Run of {y}? = {p}
P How did {who} rank in the jogging competition during {y}? = {p}
W In which year did {who} come in {p} at the Harbour Run? = {y}
C How did the place of {who} in the Harbour Run change from {y1} to {y2}? = from {p1} to {p2}
* chess | the town chess cup
V p1: the first round, round two
V p2: the semi-final, the final
T The town chess cup was {when}. I went out in {p1}, mated by a schoolgirl in socks.
T Town chess cup, next try {when}: I went out in {p2}! The schoolgirl shook my hand.
R The chess cup again! Did you open with the usual pawn?
F {who} went out of the town chess cup in {p} in {y}.
L In which round did {who} go out of the town chess cup in {y}? = {p}
P How far did {who} get at the board game tournament during {y}? = {p}
W In which year did {who} reach {p} of the chess cup? = {y}
C In which rounds did {who} leave the chess cup in {y1} and in {y2}? = in {p1}, then in {p2}
* pumpkin | the pumpkin show
V p1: 18 kilos, 23 kilos, 29 kilos
V p2: 61 kilos, 77 kilos, 84 kilos
T Pumpkin show {when}! Mine weighed {p1} and looked lost on that table.
T Pumpkin show once more {when}: mine weighed {p2}, and it took two of us to lift it.
R The pumpkin show! Is it soup for everybody now?
F {who}'s pumpkin weighed {p} at the pumpkin show of {y}.
L How much did the pumpkin of {who} weigh at the show of {y}? = {p}
P How heavy was the vegetable that {who} entered into the contest in {y}? = {p}
W In which year did the pumpkin of {who} weigh {p}? = {y}
C How much heavier did the pumpkin of {who} get from {y1} to {y2}? = from {p1} to {p2}
* licence | the sailing exam
V p1: failed on the knots, failed on the lights, failed on the charts
V p2: passed with two mistakes, passed with no mistakes, passed with distinction
T The sailing exam was {when}, and I {p1}. I will never look at the sea again.
T Sailing exam, second go {when}: I {p2}! I take back all I said about the sea.
R The sailing exam! Was the examiner the one with the beard?
F {who} {p} at the sailing exam of {y}.
L What happened to {who} at the sailing exam of {y}? = {who} {p}
P Which result did {who} get in the nautical test in {y}? = {p}
W In which year is it that {who} {p} at the sailing exam? = {y}
C How did the sailing exams of {who} in {y1} and {y2} differ? = {p1}, then {p2}
"""

EXTRAS = """
= -
* torch | a gift from Besançon | a torch from Besançon
T Aunt {aunt} in Besançon sent me a kitchen torch {when}, for crème brûlée.
R Aunt {aunt}! Please keep it away from your eyebrows.
F Aunt {aunt} in Besançon sent {who} a kitchen torch for crème brûlée.
L What did aunt {aunt} in Besançon send {who}? = a kitchen torch
V aunt: Zoé, Hélène, Noémie
* painter | a painter from Görlitz | a painting
T I bought a watercolour from {painter} in Görlitz {when}, a grey heron above the Neiße.
R From {painter}! Where will the heron hang?
F {who} bought a watercolour of a heron from {painter} in Görlitz.
L What does the watercolour show that {who} bought from {painter} in Görlitz? = a grey heron
V painter: Jürgen Böhm, Käthe Müller, Jörg Großmann
= -
* calligraphy | a calligraphy scroll
T The old master wrote 一期一会 on a scroll for me {when}; it hangs above my desk.
R 一期一会, how beautiful. What ink is that?
S Soot and glue, ground by hand. My sleeve has a sample.
F {who} has a scroll that reads 一期一会 above the desk.
L Where does {who} keep the scroll with 一期一会? = above the desk
= -
* stall | a noodle stall
T {When} I ate at the stall with the sign 牛肉面, you know, behind the cinema. Best broth of the year.
R Behind the cinema, 牛肉面? Take me along next time!
S Come hungry. The cook counts to ten, and the bowl is there.
F {who} ate at a stall behind the cinema with the sign 牛肉面.
L Where is the stall with the sign 牛肉面 at which {who} ate? = behind the cinema
"""
