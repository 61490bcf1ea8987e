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
 * Renders an HTML report without data. A server streams the record lines to the page. The page subscribes to
 * server-sent events at the relative URL `eventsUrl`. A `lines` event contains decoded record lines. A `torn`
 * event contains the number of unreadable lines. A `reset` event discards all received lines. A `writer`
 * event contains the state of the process that writes the record: `active`, `exited`, or `unknown`.
 */
export function renderLiveHtmlReport(eventsUrl: string, { title = "Cards" }: HtmlReportOptions = {}): string {
  return renderSingleFilePage(
    { mode: "watch", name: title, version: "", firstScreen: "cards", eventsUrl },
    `${title} · cards`,
  );
}
