"""The live view: a web application for one person on one machine, on a folder with scenarios and runs.

`server` puts it together; `guard` decides who is let in; `folder` what of the file system is seen;
`editing`, `quick`, `running` and `reading` are what it can do; `page` is what the browser shows. It never
measures a machine and never starts a program of the user's.
"""
