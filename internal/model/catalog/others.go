package catalog

import "adze/internal/model"

// The figures come from the vendors' public pages of models and prices, as of Date:
// developers.openai.com, ai.google.dev and docs.x.ai. Figures that were missing or
// contradictory are omitted.
//
// If a vendor distinguishes the input limit from the total context, the window is the input
// limit. A model that thinks by default but allows disabling it is AdaptiveThinking; a model
// whose lowest level is above none is AlwaysThinking.

var gpt = []line{
	{
		id: "gpt-6-astra", name: "GPT-6 Astra", cutoff: "2026-04", window: 922_000, output: 128_000, price: &astra6,
		thinking: AlwaysThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-6-sol", name: "GPT-6 Sol", cutoff: "2026-05", window: 922_000, output: 128_000, price: &sol6,
		thinking: AdaptiveThinking, effort: model.EffortMax, fast: true,
	},
	{
		id: "gpt-6.1-terra", name: "GPT-6.1 Terra", window: 922_000, output: 128_000, price: &terra61,
		thinking: AdaptiveThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-6-luna", name: "GPT-6 Luna", cutoff: "2026-05", window: 922_000, output: 128_000, price: &luna6,
		thinking: AdaptiveThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-5.6-sol", name: "GPT-5.6 Sol", window: 922_000, output: 128_000,
		thinking: AdaptiveThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-5.6-terra", name: "GPT-5.6 Terra", cutoff: "2026-02", window: 922_000, output: 128_000, price: &terra56,
		thinking: AdaptiveThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-5.6-luna", name: "GPT-5.6 Luna", window: 922_000, output: 128_000, price: &luna56,
		thinking: AdaptiveThinking, effort: model.EffortMax,
	},
	{
		id: "gpt-5.5", name: "GPT-5.5", cutoff: "2025-12", window: 922_000, output: 128_000, price: &gpt55,
		thinking: AdaptiveThinking, effort: model.EffortXHigh, silent: true, coding: model.EffortMedium,
	},
	{
		id: "gpt-5.4", name: "GPT-5.4", cutoff: "2025-08", window: 922_000, output: 128_000, price: &gpt54,
		thinking: AdaptiveThinking, effort: model.EffortXHigh, silent: true, coding: model.EffortMedium,
	},
	{
		id: "gpt-5", name: "GPT-5", cutoff: "2024-09", window: 272_000, output: 128_000, price: &gpt5,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gpt-5-mini", name: "GPT-5 mini", cutoff: "2024-05", window: 272_000, output: 128_000, price: &mini5,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
}

var gemini = []line{
	{
		id: "gemini-3.8-flash", name: "Gemini 3.8 Flash", cutoff: "2026-03", window: 1_048_576, output: 65_536, price: &flash38,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gemini-3.7-flash", name: "Gemini 3.7 Flash", window: 1_048_576, output: 65_536,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gemini-3.5-flash-lite", name: "Gemini 3.5 Flash-Lite", window: 1_048_576, output: 65_536, price: &lite35,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gemini-3.5-flash", name: "Gemini 3.5 Flash", window: 1_048_576, output: 65_536, price: &flash35,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gemini-3.1-pro-preview", name: "Gemini 3.1 Pro Preview", cutoff: "2025-01", window: 1_048_576, output: 65_536, price: &pro31,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "gemini-2.5-pro", name: "Gemini 2.5 Pro", cutoff: "2025-01", window: 1_048_576, output: 65_536, price: &pro25,
		thinking: AlwaysBudget,
	},
	{
		id: "gemini-2.5-flash", name: "Gemini 2.5 Flash", cutoff: "2025-01", window: 1_048_576, output: 65_536, price: &flash25,
		thinking: EitherThinking,
	},
}

// xAI publishes no output limit; this one is our choice.
var grok = []line{
	{
		id: "grok-4.7", name: "Grok 4.7", cutoff: "2026-05", window: 500_000, output: 64_000, price: &grok47,
		thinking: AlwaysThinking, effort: model.EffortXHigh,
	},
	{
		id: "grok-4.5", name: "Grok 4.5", cutoff: "2026-02", window: 500_000, output: 64_000, price: &grok47,
		thinking: AlwaysThinking, effort: model.EffortHigh,
	},
	{
		id: "grok-4.3", name: "Grok 4.3", window: million, output: 30_000, price: &grok43, thinking: AlwaysThinking,
	},
}

// Prices in USD per million tokens.
var (
	astra6  = longer(272_000, model.Price{Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.50})
	sol6    = longer(272_000, model.Price{Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50})
	terra61 = longer(272_000, model.Price{Input: 1, Output: 5, CacheRead: 0.05, CacheWrite: 1.25})
	luna6   = longer(272_000, model.Price{Input: 0.10, Output: 0.50, CacheRead: 0.01, CacheWrite: 0.125})
	terra56 = longer(272_000, model.Price{Input: 2, Output: 12, CacheRead: 0.20, CacheWrite: 2.50})
	luna56  = longer(272_000, model.Price{Input: 0.20, Output: 1.20, CacheRead: 0.02, CacheWrite: 0.25})
	gpt55   = longer(272_000, model.Price{Input: 5, Output: 30, CacheRead: 0.50})
	gpt54   = longer(272_000, model.Price{Input: 2.50, Output: 15, CacheRead: 0.25})
	gpt5    = model.Price{Input: 1.25, Output: 10, CacheRead: 0.125}
	mini5   = model.Price{Input: 0.25, Output: 2, CacheRead: 0.025}

	flash38 = model.Price{Input: 0.75, Output: 3.75, CacheRead: 0.075} // until the end of 2026, then doubled
	flash35 = model.Price{Input: 1.50, Output: 9, CacheRead: 0.15}
	lite35  = model.Price{Input: 0.30, Output: 2.50, CacheRead: 0.03}
	flash25 = model.Price{Input: 0.30, Output: 2.50, CacheRead: 0.03}
	pro31   = longer(200_000, model.Price{Input: 2, Output: 12, CacheRead: 0.20})
	pro25   = longer(200_000, model.Price{Input: 1.25, Output: 10, CacheRead: 0.125})

	grok47 = model.Price{Input: 2, Output: 6, CacheRead: 0.50, LongOver: 200_000, Long: &model.Price{Input: 4, Output: 12, CacheRead: 1}}
	grok43 = model.Price{Input: 1.25, Output: 2.50, CacheRead: 0.20, LongOver: 200_000, Long: &model.Price{Input: 2.50, Output: 5, CacheRead: 0.40}}
)

// longer returns a price whose input doubles and whose output grows by half for prompts of more
// than over tokens.
func longer(over int, p model.Price) model.Price {
	p.LongOver = over
	p.Long = &model.Price{Input: 2 * p.Input, Output: 1.5 * p.Output, CacheRead: 2 * p.CacheRead, CacheWrite: 2 * p.CacheWrite}
	return p
}
