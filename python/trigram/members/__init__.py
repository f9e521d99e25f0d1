"""Members of a job that come and go while it trains: each is a process that was started alone, and all find each other in a folder.

`trigram.with_members` is how a script becomes one."""
