import type { Recording } from "../../../cards/index.ts";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { renderSingleFilePage } from "../render-page.ts";
import { buildCardRunData } from "./model/run-model.ts";

/** Options of `renderHtmlReport`. */
export interface HtmlReportOptions {
  /** Title and heading of the HTML report, used when the recording has no run line. Default: `Cards`. */
  readonly title?: string;
}

const assertKnownOptions = defineOptionNames<HtmlReportOptions>()("renderHtmlReport", "title");

/**
 * Renders a recording as one self-contained HTML file that works offline. The HTML report shows the
 * statistics of the run. For each problem, the report shows a sequence diagram
 * and a table. The HTML report never executes text from agents as code. The same recording always produces
 * the same HTML.
 */
export function renderHtmlReport(recording: Recording, options: HtmlReportOptions = {}): string {
  assertKnownOptions(options);
  const name = recording.run?.run_id ?? options.title ?? "Cards";
  return renderSingleFilePage(
    {
      mode: "record",
      name,
      version: recording.run?.code ?? "",
      firstScreen: "cards",
      lines: [],
      cards: buildCardRunData(recording, name),
    },
    `${name} · cards`,
  );
}

/**
 * Renders an HTML report without data. The page requests the lines of the record at the relative URL `linesUrl`, again
 * and again. The query contains the ID of the `file` and the position `after` the known lines. A response contains the
 * next lines, and the headers `x-record-file`, `x-record-start` (the position of the lines), and `x-record-writer` (the
 * state of the process that writes the record: `active`, `exited`, or `unknown`).
 */
export function renderLiveHtmlReport(
  linesUrl: string,
  { title = "Cards", ...run }: HtmlReportOptions & { readonly runId?: string } = {},
): string {
  return renderSingleFilePage(
    { mode: "watch", name: title, version: "", firstScreen: "cards", linesUrl, ...run },
    `${title} · cards`,
  );
}
