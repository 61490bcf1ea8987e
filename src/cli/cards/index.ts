import type { CommandTable } from "../command-table.ts";

/** Commands for experiment runs of the card protocol. */
export const CARDS_COMMANDS: CommandTable = {
  run: {
    description: "Run a planner and a solver, or a baseline, on a dataset. Record and score the run.",
    loadFactory: async () => (await import("./run.ts")).createCardsRunCommand,
  },
  score: {
    description: "Score the recorded replies of a run with another scorer, without a model.",
    loadFactory: async () => (await import("./score.ts")).createCardsScoreCommand,
  },
  stats: {
    description: "Show the statistics of a run: turns, tokens, time, and failures.",
    loadFactory: async () => (await import("./stats.ts")).createCardsStatsCommand,
  },
  show: {
    description: "Show the message cards of a run as boxes, lanes, or a list.",
    loadFactory: async () => (await import("./show.ts")).createCardsShowCommand,
  },
  export: {
    description: "Export the message cards of a run, its problems as CSV, or one problem as Mermaid.",
    loadFactory: async () => (await import("./export.ts")).createCardsExportCommand,
  },
  compare: {
    description: "Compare the accuracy and the tokens of runs on the same problems.",
    loadFactory: async () => (await import("./compare.ts")).createCardsCompareCommand,
  },
  html: {
    description: "Render a run as one HTML file that works offline.",
    loadFactory: async () => (await import("./html.ts")).createCardsHtmlCommand,
  },
  watch: {
    description: "Show a run in the browser while it is recorded.",
    loadFactory: async () => (await import("./watch.ts")).createCardsWatchCommand,
  },
};
