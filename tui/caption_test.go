package tui

import (
	"testing"
	"time"
)

func TestTheDemoNamesKeysToTry(t *testing.T) {
	play(t, setup{options: Options{InDemo: true}, change: begun}, func(st *stage) {
		st.press("3") // the first words were read
		time.Sleep(time.Minute)
		st.sees("demo: try 1 then +")
	})
	play(t, setup{options: Options{InDemo: true}}, func(st *stage) { // it has run for three hours
		st.misses("demo: try")
		st.sees("1 Ping budget")
	})
	play(t, setup{}, func(st *stage) { st.misses("demo:") })
}
