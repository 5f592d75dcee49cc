// Package words puts numbers, sizes, amounts and times into words, in each form
// that the program's texts have. It is pure; what the words are about it must not
// know.
package words

import (
	"fmt"
	"strconv"
)

// Count is a number and its noun: "1 file", "3 files". The plural takes an s.
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + plural(n, noun) }

// Nth is a number as a place: "first", "third", "12th".
func Nth(n int) string {
	if small := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}; n >= 1 && n <= len(small) {
		return small[n-1]
	}
	end := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// plural is a noun as it stands behind a number: "file", "files".
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Grouped is Count with a comma before every third digit: "1 tool", "1,204 lines".
func Grouped(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands writes a number with a comma before every third digit.
func Thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Big writes a number in at most four cells: "940", "1.2k", "14k", "3.1M".
func Big(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(max(n, 0))
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

// Tokens is a number of tokens as people read it: "812", "45k", "1.2M".
func Tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_500:
		return Thousand(n)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Thousand is a number in whole thousands, rounded: "45k".
func Thousand(n int) string { return fmt.Sprintf("%dk", (n+500)/1000) }

// Dollars is an amount with as many digits as it takes to see something: "$0.12",
// "$0.0034".
func Dollars(v float64) string {
	if v > 0 && v < 0.1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// Bytes is the size of a file: "812 bytes", "45 kB", "1.2 MB", "14 MB".
func Bytes(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Memory is how much memory something takes: "145 MB", "1.5 GB".
func Memory(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", n>>20)
}
