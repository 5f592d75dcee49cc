package service

import (
	"context"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// agent is the launchd agent: label, command line, PATH, and the file for crash output. It
// is restarted after a failure; 63 is the umask 0077.
const agent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>%s</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>15</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`

// launchd makes the agent of the directory.
func (s *Service) launchd() manager {
	label := "local." + s.called()
	path := filepath.Join(s.o.Home, "Library", "LaunchAgents", label+".plist")
	domain := "gui/" + strconv.Itoa(s.o.UID)
	var line strings.Builder
	for _, word := range s.line() {
		fmt.Fprintf(&line, "\t\t<string>%s</string>\n", quoteXML(word))
	}
	errors := filepath.Join(s.o.Dir, "state", "service.log")
	leave := command{words: []string{"launchctl", "bootout", domain + "/" + label}, mayFail: true} // it may not be loaded
	return manager{
		name: label, kind: "a launchd agent", path: path,
		text:  fmt.Sprintf(agent, quoteXML(label), line.String(), quoteXML(s.programs()), quoteXML(errors)),
		mark:  func(sum string) string { return "<!-- written by `ollim-bot service install`, sum=" + sum + " -->" },
		begin: []command{leave, run("launchctl", "bootstrap", domain, path)},
		end:   []command{leave},
		state: func(ctx context.Context) State { return s.agentState(ctx, domain+"/"+label) },
		logs:  func(n int, follow bool) []string { return tailOf(n, follow, s.spoken(errors)...) },
		stays: func() string { return textAgent },
	}
}

// spoken are the log files that exist.
func (s *Service) spoken(errors string) []string {
	if exists(errors) {
		return []string{s.logFile(), errors}
	}
	return []string{s.logFile()}
}

// agentState asks launchd for the state of an agent.
func (s *Service) agentState(ctx context.Context, target string) State {
	out, err := s.o.Run(ctx, "launchctl", "print", target)
	if err != nil {
		return State{Says: "not loaded"}
	}
	st := State{AtLogin: true, Says: "loaded"}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch key {
		case "state":
			if st.Says == "loaded" { // the first one is the agent's
				st.Says, st.Running = value, value == "running"
			}
		case "pid":
			st.PID, _ = strconv.Atoi(value) // 0 if there is none
		case "runs":
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				st.Restarts = n - 1
			}
		}
	}
	return st
}

// quoteXML escapes a text for XML.
func quoteXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
