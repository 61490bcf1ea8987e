import type { TrafficLine } from "../../observe/trace/index.ts";
import { renderSingleFilePage } from "./render-page.ts";

/** Options of `renderTrafficRecord`. */
export interface TrafficRecordPageOptions {
  /** Title of the page. Default: `Traffic`. */
  readonly title?: string;
  /** Version of Colloquy that the page states. Default: the version of the first writer line. */
  readonly version?: string;
}

/**
 * Renders a traffic record as one self-contained HTML file that works offline. The page has the screens Tasks, Task,
 * Flow, Agents, and Compare of the console, and the screen Cards if the record contains message cards. The page never executes text from agents as code.
 */
export function renderTrafficRecord(
  lines: readonly TrafficLine[],
  { title = "Traffic", version }: TrafficRecordPageOptions = {},
): string {
  const writer = lines.find((line) => line.kind === "writer");
  return renderSingleFilePage(
    {
      mode: "record",
      name: title,
      version: version ?? writer?.code ?? "",
      firstScreen: "flow",
      lines,
    },
    title,
  );
}
