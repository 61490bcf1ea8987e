import type { Commands } from "../commands.ts";

/** What there is to do with the cards of a run. */
export const CARDS: Commands = {
  run: {
    about: "Have planner and solver, or a baseline, solve problems; record and score it all.",
    load: async () => (await import("./run.ts")).cardsRunCommand,
  },
  fetch: {
    about: "Say where to get the whole datasets.",
    load: async () => (await import("./fetch.ts")).cardsFetchCommand,
  },
  stats: {
    about: "Say what a run says: turns, tokens, time, and what went wrong.",
    load: async () => (await import("./stats.ts")).cardsStatsCommand,
  },
  show: {
    about: "Show what was said: as boxes, lanes, a timeline, a diagram.",
    load: async () => (await import("./show.ts")).cardsShowCommand,
  },
  export: {
    about: "Write a run as other tools read it: Perfetto, OpenTelemetry, Mermaid, SVG …",
    load: async () => (await import("./export.ts")).cardsExportCommand,
  },
  compare: {
    about: "Put runs of the same problems beside each other: accuracy, tokens, and whether they differ.",
    load: async () => (await import("./compare.ts")).cardsCompareCommand,
  },
  validate: {
    about: "Check records and lists of cards: their form, and the promises of the protocol.",
    load: async () => (await import("./validate.ts")).cardsValidateCommand,
  },
  html: {
    about: "Make one HTML file of a run, which opens without a network.",
    load: async () => (await import("./html.ts")).cardsHtmlCommand,
  },
  watch: {
    about: "Show a run in the browser while it is recorded.",
    load: async () => (await import("./watch.ts")).cardsWatchCommand,
  },
};
