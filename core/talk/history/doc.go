// # Session files are skimmed
//
// The file of a fork contains a copy of its parent's, and a picture is one line of megabytes. A
// search decodes only what it needs; with encoding/json on whole lines, 500 sessions of half a
// megabyte took six times as long.
package history
