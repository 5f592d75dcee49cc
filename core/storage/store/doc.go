// Package store owns the data directory: its paths, permissions and locks, and durable files in it.
// Everything that writes there uses this package, which must not know what the files mean.
//
// # The directory is the lock
//
// A lock file moves with its folder. The bot locks the directory itself, identifies it by its
// inode, and never writes to another directory that takes its place.
//
// # Whole files
//
// State is written to a temporary file in the same folder, synced and renamed, and the folder is
// synced. An unreadable file is moved aside as NAME.corrupt-TIME, reported, and replaced with
// defaults. Changes that other processes might also make hold a lock for that file. A file that is
// read often is cached until it changes, but not while it is younger than three seconds, because
// another change could then have the same time.
package store
