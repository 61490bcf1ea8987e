import type { Recording } from "../../cards/index.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { buildCardRunData } from "./cards/card-run-data.ts";
import { renderSingleFilePage } from "./render-page.ts";

/** Options of `renderTrafficRecord`. */
export interface TrafficRecordPageOptions {
  /** Title of the page. Default: `Traffic`. */
  readonly title?: string;
  /** Version of Colloquy that the page states. Default: the version of the first writer line. */
  readonly version?: string;
  /** Message cards of the same record, which the page shows on a screen of their own. Default: none. */
  readonly recording?: Recording;
}

const assertKnownOptions = defineOptionNames<TrafficRecordPageOptions>()(
  "renderTrafficRecord",
  "title",
  "version",
  "recording",
);

/**
 * Renders a traffic record as one self-contained HTML file that works offline. The page has the screens Tasks, Task,
 * Flow, Agents, and Compare of the console. The page never executes text from agents as code.
 */
export function renderTrafficRecord(
  lines: readonly TrafficLine[],
  options: TrafficRecordPageOptions = {},
): string {
  assertKnownOptions(options);
  const { title = "Traffic", recording } = options;
  const writer = lines.find((line) => line.kind === "writer");
  return renderSingleFilePage(
    {
      mode: "record",
      name: title,
      version: options.version ?? writer?.code ?? "",
      firstScreen: "flow",
      lines,
      ...(recording && { cards: buildCardRunData(recording, title) }),
    },
    title,
  );
}
