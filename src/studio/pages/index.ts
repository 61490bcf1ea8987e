/**
 * The page of the console, of one-file exports, and of live records. Other folders import only this file, which contains
 * the bundled page as text. The folders of `pages/` are a browser app over a `TrafficSource`, which `scripts/build-page.mjs`
 * bundles.
 */
export { type HtmlReportOptions, renderHtmlReport, renderLiveHtmlReport } from "./cards/html-report.ts";
export { type PageData } from "./page-data.ts";
export { renderServedPage, renderSingleFilePage, type ServedPage } from "./render-page.ts";
export { renderTrafficRecord, type TrafficRecordPageOptions } from "./render-traffic-record.ts";
