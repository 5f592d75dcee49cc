// Package sandbox owns the operating system's sandbox around everything that runs commands for a
// model: the engine's process, the commands that the model or a skill's text runs, and git in the
// data directory. It finds out what the machine offers (bubblewrap, Landlock, Seatbelt or nothing),
// and rewrites an exec.Cmd so that it runs inside. It must not know what the commands are for, who
// may call which tool, or the contents of files in the data directory.
//
// # Two sandboxes
//
// claude needs the network and its login; its commands need neither. So they get their own sandbox
// inside claude's. It is started through CLAUDE_CODE_SHELL: instead of bash, a script for the bot's
// own program, kept in memory. The program determines what is closed at that moment, and becomes
// bubblewrap with a clean environment, because bubblewrap's own environment can be read inside. A
// root process is "nobody" inside, because the kernel gives no namespace to a root without
// capabilities. A second /proc needs a complete one to be visible somewhere, so one is mounted out
// of reach under an empty folder. The signals of Stop go to the command and not to bubblewrap,
// which would die of them at once; SIGKILL goes to bubblewrap, and everything inside dies with it.
//
// # Limits
//
// Limits of a single process are set inside. The total use of all processes of one start is limited
// by a scope of the user's systemd, if it is running: systemd-run --scope creates it and becomes
// the command, so that the process ID and the open files stay the same. Without systemd there is no
// such limit.
//
// # Some hosts
//
// If commands may reach some hosts (Settings.Hosts), their sandbox has no network except a relay to
// the proxy of package egress: the bot's own program, which is the first process inside and starts
// the command. Only a separate network namespace closes every other way. Landlock's network rules
// contain a port but no address, so the proxy's port would open every server that listens on it.
// With Landlock and with Seatbelt, such commands therefore have no network at all.
package sandbox
