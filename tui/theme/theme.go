// Package theme is how the dashboard looks: colours by role, for dark and
// light backgrounds, and glyphs with ASCII stand-ins. Nothing else in the
// program names a colour. Meaning is never carried by colour alone.
package theme

// Role is what a piece of text is for.
type Role uint8

// The roles. Text is the terminal's own foreground.
const (
	Text   Role = iota
	Dim         // less important
	Strong      // bold
	Accent      // names, links, the focused pane's title
	Good        // done, up, full
	Warn        // late, low, waiting
	Bad         // failed, error, empty
	Border      // of panes
	Focus       // border of the focused pane
	Key         // a key in the help line
	Select      // the selected row
	Match       // what a search found
	Ping        // a message to the user
	Tool        // a tool call
	Think       // reasoning
	Report      // an update for the main session
	Gauge       // the filled part of a gauge
	Track       // its empty part
	You         // the user's own words
	Caret       // where typing goes: reverse in every theme
	numRoles
)

// Glyph is a symbol with an ASCII stand-in.
type Glyph uint8

// The glyphs.
const (
	Dot      Glyph = iota // ● running, up          *
	HalfDot               // ◐ waiting              o
	Circle                // ○ off                  .
	Check                 // ✓ done                 v
	Cross                 // ✗ failed               x
	Bang                  // ! warning              !
	Mute                  // ✕ silent               -
	Arrow                 // → change               ->
	Down                  // ▼ more below           v
	Up                    // ▲ more above           ^
	Ellipsis              // … cut                  ~
	Chain                 // ∞ a link of a chain    &
	Lock                  // read-only
	Pointer               // ▸ the selected row     >
	Bell                  // critical               !
	HLine                 // ─ inner rule           -
	numGlyphs
)

// Options choose a theme.
type Options struct {
	Dark bool
	// Contrast takes the palette of high contrast.
	Contrast bool
	NoColor  bool // no colours; bold, underline and reverse stay
	ASCII    bool // ASCII borders and glyphs
	Plain    bool // no styling at all, for text files; ASCII is another matter
	// Profile is how many colours the terminal has: 0 none, 16, 256 or 1<<24.
	Profile int
}
