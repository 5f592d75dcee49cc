// Package sandbox owns the fence of the operating system around everything that
// runs commands for a model: the engine's process, the commands that the model
// or a skill's text runs, and git in the data directory. It finds out what the
// machine offers (bubblewrap, Landlock, Seatbelt or nothing), and rewrites an
// exec.Cmd so that it runs inside. It must not know what the commands are for,
// who may call which tool, or what stands in any file of the data directory.
//
// # Two sandboxes
//
// claude needs the network and its login; its commands need neither. So they get their own
// sandbox inside claude's. The way in is CLAUDE_CODE_SHELL: in place of bash, a script for our
// own program, kept in memory. It looks for what is closed at that moment, and becomes
// bubblewrap with a clean environment, because bubblewrap's own can be read inside. A root process is
// "nobody" inside, because the kernel gives no namespace to a root without capabilities. A second /proc needs a complete one to be visible somewhere, so one
// is mounted out of reach under an empty folder. The signals of Stop go to the command and not
// to bubblewrap, which would die of them at once; SIGKILL goes to bubblewrap, and everything
// inside dies with it.
//
// # Limits
//
// Limits of a single process are set inside. What all processes of one start use together is
// limited by a scope of the user's systemd, where one runs: systemd-run --scope makes it and
// becomes the command, so that the process ID and the open files stay. Without systemd there
// is no such limit.
//
// # Some hosts
//
// Where commands reach some hosts (Settings.Hosts), their sandbox has no network but a relay to
// the proxy of package egress: our own program, which is the first one inside and starts the
// command. Only a namespace of its own leaves no way beside it. Landlock's rules for the network
// name a port and no address, so that the port of a proxy would lead to every server that
// listens there; there, and with Seatbelt, such commands have no network at all.
package sandbox
