package amount

import (
	"testing"
	"time"
)

func TestAmounts(t *testing.T) {
	for got, want := range map[string]string{
		Of(0, "memory", "memories"): "0 memories", Of(1, "memory", "memories"): "1 memory", Of(2, "file", "files"): "2 files",
		There([]string{"a"}): "there is a", There([]string{"a", "b"}): "there are a, b",
		Grouped(0): "0", Grouped(999): "999", Grouped(1000): "1,000", Grouped(1234567): "1,234,567",
		Age(59 * time.Second): "just now", Age(61 * time.Second): "1m ago", Age(47 * time.Hour): "47h ago", Age(49 * time.Hour): "2d ago",
		USD(0): "$0.00", USD(0.0049): "$0.0049", USD(0.01): "$0.01", USD(12.345): "$12.35",
		Price(4): "4", Price(0.1): "0.10", Price(0.075): "0.075", Price(2.5): "2.50",
		Rounded(999): "999", Rounded(1499): "1k", Rounded(200_000): "200k", Rounded(1_000_000): "1M", Rounded(1_048_576): "1M", Rounded(1_500_000): "1.5M",
		Bytes(1023): "1023 bytes", Bytes(1536): "1.5 KB", Bytes(10 << 20): "10.0 MB",
		Seconds(1234 * time.Millisecond): "1.2s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
