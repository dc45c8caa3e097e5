"""The live view: a web application for one person on one machine, on a folder with scenarios and runs.

`server` is the application; `guard` admits requests; `folder` limits the visible part of the file system;
`editing`, `quick`, `running` and `reading` are its functions; `page` is the page in the browser. It never
measures a machine and never starts a program of the user.
"""
