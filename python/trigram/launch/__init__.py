"""`trigram launch`: starts the members of a job, each in a loop of its own that starts it again, here, on other hosts, or as a job of Slurm."""
