// # An export takes no locks
//
// It copies files until a check of all of them finds none changed since its copy: at one moment
// between the last copy and the check, all files on disk were as copied. A file younger than
// three seconds is compared by its bytes. So the bot is never blocked, and files written without
// a lock are covered too. The bytes are in a file without a name, which no kill leaves behind.
//
// # An import exchanges directories
//
// The system swaps two directories in one step, so no moment has half of an import, and nothing
// needs recovery at the next start. If the system cannot do it, the import is refused; there is
// no second way.
package archive
