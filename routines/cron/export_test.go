package cron

// Meaning is when a schedule fires, whatever its expression looks like: minutes, hours, whether
// they count elapsed time, and for each month the days that match, by date and weekday.
type Meaning struct {
	minute, hour set
	elapsed      bool
	months       [13][7]set
}

// MeaningOf returns the meaning of a schedule.
func MeaningOf(s Schedule) (m Meaning) {
	m.minute, m.hour, m.elapsed = s.minute, s.hour, s.anyHour
	for _, month := range s.month.values() {
		for week := range 7 {
			for day := 1; day <= 31; day++ {
				date, weekday := s.dom.has(day), s.dow.has(week)
				fires := date && weekday
				if !s.anyDom && !s.anyDow {
					fires = date || weekday
				}
				if fires {
					m.months[month][week] |= 1 << day
				}
			}
		}
	}
	return m
}
