"""Tables and pictures to look at: games, searches, trainings and seat studies, for notebooks and experiments.

Every picture is a matplotlib `Figure` made without a display; a notebook shows it where it is the last value of a cell.
"""
