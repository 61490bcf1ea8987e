import type { CommandTable } from "../commands.ts";

/** The commands for runs of the card protocol. */
export const CARDS_COMMANDS: CommandTable = {
  run: {
    description: "Have planner and solver, or a baseline, solve problems; record and score it all.",
    loadFactory: async () => (await import("./run.ts")).createCardsRunCommand,
  },
  fetch: {
    description: "Say where to get the whole datasets.",
    loadFactory: async () => (await import("./fetch.ts")).createCardsFetchCommand,
  },
  stats: {
    description: "Say what a run says: turns, tokens, time, and what went wrong.",
    loadFactory: async () => (await import("./stats.ts")).createCardsStatsCommand,
  },
  show: {
    description: "Show what was said: as boxes, lanes, a timeline, a diagram.",
    loadFactory: async () => (await import("./show.ts")).createCardsShowCommand,
  },
  export: {
    description: "Write a run as other tools read it: Perfetto, OpenTelemetry, Mermaid, SVG …",
    loadFactory: async () => (await import("./export.ts")).createCardsExportCommand,
  },
  compare: {
    description:
      "Put runs of the same problems beside each other: accuracy, tokens, and whether they differ.",
    loadFactory: async () => (await import("./compare.ts")).createCardsCompareCommand,
  },
  validate: {
    description: "Check records and lists of cards: their form, and the promises of the protocol.",
    loadFactory: async () => (await import("./validate.ts")).createCardsValidateCommand,
  },
  html: {
    description: "Make one HTML file of a run, which opens without a network.",
    loadFactory: async () => (await import("./html.ts")).createCardsHtmlCommand,
  },
  watch: {
    description: "Show a run in the browser while it is recorded.",
    loadFactory: async () => (await import("./watch.ts")).createCardsWatchCommand,
  },
};
