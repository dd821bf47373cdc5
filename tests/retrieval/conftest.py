from hypothesis import settings

# a busy machine is no failure
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
