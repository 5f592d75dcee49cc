// Zones are linked in (time/tzdata), so that they work on machines without a zone database. A
// command builds only its own branch of the command tree. Memory: see leanMemory.
package main
