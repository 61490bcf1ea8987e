/**
 * HTML report of a recording as one self-contained file.
 * `renderHtmlReport` is pure. The browser code is in `page/`, which has its own type check with the DOM
 * types. `npm run page` bundles it into `page-bundle.ts`.
 */
export { renderHtmlReport, type HtmlReportOptions, renderLiveHtmlReport } from "./html-report.ts";
