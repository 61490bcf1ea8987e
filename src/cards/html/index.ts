/**
 * A RECORDING AS A PAGE: one HTML file with everything in it. `renderHtmlReport` is pure; what runs in the browser is in `page/`,
 * checked against the DOM's types there and put into `page-bundle.ts` by `npm run page`.
 */
export { renderHtmlReport, type HtmlReportOptions, renderLiveHtmlReport } from "./html-report.ts";
