import type { CommandTable } from "../command-table.ts";

/** Commands for traffic records. */
export const TRACE_COMMANDS: CommandTable = {
  show: {
    description: "Show the tasks of a traffic record, or the timeline of one task.",
    loadFactory: async () => (await import("./show.ts")).createTraceShowCommand,
  },
  html: {
    description: "Render a traffic record as one HTML file that works offline.",
    loadFactory: async () => (await import("./html.ts")).createTraceHtmlCommand,
  },
  export: {
    description: "Export a traffic record for OpenTelemetry, Perfetto, or Mermaid, or as merged lines.",
    loadFactory: async () => (await import("./export.ts")).createTraceExportCommand,
  },
  compare: {
    description: "Compare two tasks of one or two traffic records.",
    loadFactory: async () => (await import("./compare.ts")).createTraceCompareCommand,
  },
};
