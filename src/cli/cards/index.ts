import type { Commands } from "../commands.ts";

/** What there is to do with the cards of a run. */
export const CARDS: Commands = {
  stats: {
    about: "Say what a run says: turns, tokens, time, and what went wrong.",
    load: async () => (await import("./stats.ts")).cardsStatsCommand,
  },
};
