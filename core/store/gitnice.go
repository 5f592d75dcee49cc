package store

import "syscall"

// beNice lets a process of ours, and what it starts, stand back behind others.
func beNice(pid int) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, 10) // it only takes longer otherwise
}
