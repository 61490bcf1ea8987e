/**
 * HTML report of a recording as one self-contained file. `renderHtmlReport` is a pure function. The browser
 * code is in `page/`, which is type-checked separately with the DOM types. `npm run page` bundles the browser
 * code into `page-bundle.ts`.
 */
export { renderHtmlReport, type HtmlReportOptions, renderLiveHtmlReport } from "./html-report.ts";
