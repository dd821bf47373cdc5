"""Names, small talk, recurring turns and the notation of the event templates.

A template block has one item a line; the first character says what it is. ``=`` opens a group (with the
multi-hop question over its events, and their theme), ``*`` an event (``name | topic | short answer``),
``V`` the values of a slot; ``T`` the turn that tells the event, ``R`` the reply of the other speaker, ``S``
the speaker's second turn; ``F`` and ``E`` the distilled facts of the two; ``L`` and ``P`` a literal and a
paraphrased question on ``T``, ``M`` one on ``S``, ``W`` and ``w`` a literal and a paraphrased question
about the time, ``O`` one that needs inference, ``C`` the comparison of two years. An answer stands
behind an equals sign.
"""

SPEAKERS = (
    ("Ada", "Bruno"),
    ("Celia", "Dario"),
    ("Edith", "Farid"),
    ("Greta", "Hamid"),
    ("Ines", "Jonas"),
    ("Kirsten", "Lorenzo"),
    ("Mira", "Nils"),
    ("Odette", "Pavel"),
    ("Renée", "Stefan"),
    ("Tamsin", "Ugo"),
)

SLOTS: dict[str, tuple[str, ...]] = {
    "color": ("crimson", "turquoise", "mustard", "navy", "coral", "silver", "teal", "lilac", "burgundy"),
    "street": (
        *("Mill Lane", "Canal Street", "Fox Alley", "Station Road", "Bishop Street", "Tanner Row"),
        *("Quarry Hill", "Rope Walk"),
    ),
    "friend": (
        *("Anselm", "Beatrix", "Cosmo", "Delphine", "Emeka", "Fiona", "Gustav", "Henrike", "Ilja", "Josefa"),
        *("Kaspar", "Leontine", "Milo", "Nadira", "Oskar", "Petra", "Quentin", "Rosa", "Silas", "Thea"),
        *("Ulrik", "Vera", "Wanda", "Xenia", "Yusuf", "Zelda", "Magnus", "Ottilie", "Hugo", "Salma"),
        *("Benedikt", "Clara"),
    ),
    "town": ("Aldmoor", "Brackwater", "Corvale", "Dunmere", "Elsterfeld", "Fernhay", "Gullhaven", "Hollin"),
    "num": (
        *("11", "13", "14", "16", "17", "19", "22", "23", "26", "28", "29", "31", "34", "37", "38", "39"),
        *("43", "44", "46", "47", "48", "51", "53", "56", "58", "59"),
    ),
    "nick": ("Pickle", "Comet", "Duchess", "Biscuit", "Thunder", "Marble"),
    "pet": ("Waffles", "Bandit", "Olive", "Pixel", "Truffle"),
    "month": ("March", "June", "September", "November"),
}

GREETINGS = (
    ("Hey {other}! How have you been?", "Hi {who}! Busy, but good. And you?"),
    ("Hello {other}, long time no see!", "{who}! I was just thinking of you."),
    ("Hi there! Do you have a minute?", "For you always. What's up?"),
    ("Good evening, {other}.", "Evening! Kettle's on, feet up, I'm all ears."),
    ("Are you home already?", "Just took my shoes off. Tell me everything."),
    ("Guess who finally answers messages!", "I had nearly sent out a search party."),
)

SMALL_TALK = (
    ("What's the weather like on your side?", "Grey, grey, and a little bit of grey."),
    ("My train was late again today.", "Mine didn't even bother to come."),
    ("I'm having toast for dinner. Don't judge me.", "Toast is a meal if you believe in it."),
    ("Did you see the moon last night?", "I did! Huge, like a lamp somebody forgot to turn off."),
    ("I can't find my glasses.", "Have you looked on your head?"),
    ("Remind me never to open the mail on a Monday.", "Bills again? Same here."),
    ("I've been humming the same tune for three days.", "Please don't pass it on to me."),
    ("Do you ever feel that the week has nine days?", "This one has at least ten."),
    ("Somebody parked in front of my door again.", "The van with the flames? I know that van."),
    ("I slept like a stone.", "Lucky you. The street cleaners woke me up at five."),
    ("I'm trying to use my phone less.", "Says the person typing at midnight."),
    ("What are you up to this weekend?", "Laundry, a long walk, nothing heroic. You?"),
    ("Are you still reading the paper in print?", "Only for the crossword, I admit."),
    ("The office is freezing.", "Ours is a sauna. Shall we swap?"),
    ("I made a list of things to do and lost the list.", "Then you're free!"),
    ("You sound tired.", "Long day. It gets better while we talk."),
    ("Have you eaten yet?", "Standing up, over the sink. Very elegant."),
    ("My mother sends her love.", "Give it right back to her!"),
    ("I nearly bought a hat today.", "Nearly is the best way to buy a hat."),
    ("Any plans for the holidays?", "None, and I guard them with my life."),
    ("Can you hear that noise, too?", "That's my neighbour's karaoke evening, I'm afraid."),
    ("I've run out of milk again.", "One day you'll write it down."),
    ("Work was quiet for once.", "Don't say that out loud!"),
    ("Do you still have my umbrella?", "Which of the three?"),
    ("I took the stairs today. All of them.", "Who chased you?"),
    ("Nobody tells you how much paperwork life is.", "I have a drawer I no longer open."),
)

SHORT_REPLIES = (
    *("Oh wow, really?", "Ha, classic you.", "I'm so glad to hear that.", "No way!", "That makes sense."),
    *("You deserve it.", "I had no idea.", "Keep me posted!", "Same here.", "Tell me more!"),
)

FOLLOW_UPS = (
    ("By the way, any news about {topic}?", "All fine so far, thanks for asking."),
    ("What did people say about {topic}, in the end?", "They laughed, mostly, and then they got used to it."),
    ("I told my colleagues about {topic}.", "Oh dear. I hope you told it nicely."),
    ("Do you still think about {topic}?", "Now and then. It was quite a thing."),
)

# Ways to name the theme of an event: in the turn that tells it, in the fact, in a question. They share the
# theme alone, which recurs in small talk, so that a question with the theme finds much beside its evidence.
THEMED_TURNS = ("{Theme} news: {text}", "{Theme} update: {text}", "{text} So much for my {theme} bulletin.")
THEMED_FACTS = ("{text} ({theme})", "{Theme}: {text}")
THEMED_QUESTIONS = ("Speaking of {theme} matters, {text}", "As for {theme} concerns, {text}")

# other speaker, speaker, the distilled fact
ECHOES = (
    (
        "Anything new from the {theme} department?",
        "The {theme} department is quiet this week.",
        "{who}'s {theme} department is quiet.",
    ),
    (
        "What is your next {theme} project?",
        "I promised not to start another {theme} project before spring.",
        "{who} starts no other {theme} project before spring.",
    ),
    (
        "You and your {theme} stories!",
        "I have {theme} stories for a whole winter.",
        "{who} has {theme} stories for a whole winter.",
    ),
    (
        "How much of your money goes into {theme} things?",
        "Don't ask. My {theme} envelope is always empty.",
        "{who}'s {theme} envelope is always empty.",
    ),
    (
        "I dreamt of your {theme} adventures.",
        "So do I. My {theme} dreams are the cheapest kind.",
        "{who} has {theme} dreams.",
    ),
    (
        "Did I miss the latest {theme} episode?",
        "The latest {theme} episode was a small one, I'll tell you over tea.",
        "{who} wants to tell the latest {theme} episode over tea.",
    ),
    (
        "My colleague needs {theme} advice.",
        "My {theme} advice: begin small, and laugh.",
        "{who}'s {theme} advice is to begin small.",
    ),
    (
        "Is the {theme} crowd still meeting?",
        "Every other week. The {theme} crowd talks more than it does.",
        "The {theme} crowd of {who} meets every other week.",
    ),
)

# Said again and again in the same words: exact ties of any lexical ranking.
SIGN_OFFS = (
    (
        "Good night, and ring me on Sunday after lunch!",
        "When does {who} want a ring?",
        "on Sunday after lunch",
    ),
    ("Sleep well, and don't forget the Friday quiz!", "Which quiz must not be forgotten?", "the Friday quiz"),
    ("Off to bed now, the alarm is set for six.", "For what time is the alarm of {who} set?", "for six"),
    ("Bye for now, my tram leaves at nine.", "At what time does the tram of {who} leave?", "at nine"),
)

# text, question, answer, the distilled fact (written down each time anew, in the same words)
REMINDERS = (
    (
        "Reminder: choir rehearsal is on Thursday at seven, bring the green folder.",
        "What should be brought to the choir rehearsal on Thursday?",
        "the green folder",
        "{who} has choir rehearsal on Thursday at seven.",
    ),
    (
        "Reminder: the paper bins go out on Tuesday night, the glass on Wednesday.",
        "Which bins go out on Tuesday night?",
        "the paper bins",
        "The paper bins go out on Tuesday night.",
    ),
    (
        "Reminder: water the ferns in the stairwell twice a week, one cup each.",
        "How often should the ferns in the stairwell get water?",
        "twice a week",
        "The ferns in the stairwell need water twice a week.",
    ),
    (
        "Reminder: the spare key hangs behind the blue watering can.",
        "Where does the spare key hang?",
        "behind the blue watering can",
        "The spare key of {who} hangs behind the blue watering can.",
    ),
)

# two turns of the same words in another order, a question on each
BAGS = (
    (
        "My plan for tomorrow: first the dentist, then the bank.",
        "My plan for tomorrow: first the bank, then the dentist.",
        "When did {who} plan to see first the dentist, then the bank?",
        "When did {who} plan to see first the bank, then the dentist?",
    ),
    (
        "Tonight the red team plays the yellow team, I bet on red.",
        "Tonight the yellow team plays the red team, I bet on red.",
        "When did {who} write that the red team plays the yellow team?",
        "When did {who} write that the yellow team plays the red team?",
    ),
    (
        "I left the ladder at your place and took your drill.",
        "I took your ladder and left the drill at your place.",
        "When did {who} leave the ladder and take the drill?",
        "When did {who} take the ladder and leave the drill?",
    ),
)

# asked of everybody, told by nobody
UNMENTIONED = (
    "What is the name of {who}'s yoga teacher?",
    "Which blood type does {who} have?",
    "How long is {who}'s daily bus ride?",
    "Which perfume does {who} wear?",
    "Who was {who}'s first boss?",
    "What is {who}'s favourite opera?",
    "Which password manager does {who} use?",
    "Where did {who} go to kindergarten?",
    "What did {who} study at university?",
    "Which newspaper does {who} subscribe to?",
)

# words that say nothing about what a question and its evidence have in common
_GRAMMAR = """
a an the to and or of in on for with is are was were be by at as it this that we i did does do has have had
which what who whom whose where when how why my me you your our us they them their his her from not no so
one all there then now since kind s t d ll ve re m
"""
GRAMMAR = frozenset(_GRAMMAR.split())
