"""The course made of the notebooks: slides, worksheets, students' copies, what a grader needs."""
