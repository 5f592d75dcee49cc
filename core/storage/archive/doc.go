// Package archive owns export and import: the file that contains a data directory and the
// sessions of its conversation, which files are in it, how it is checked, and how it replaces
// a directory. It must not know what the files mean, nor its caller.
//
// An export is a tar archive, compressed with gzip and, where it holds secrets,
// encrypted with a passphrase (age). Its first entry is the Head, its last one lists the
// SHA-256 of each file; between them are the files, below "data/" and "sessions/".
//
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
