/** Who analyses what was found and writes the report: a model, or without one the sentences of the documents themselves. */
import type { FoundDocument } from "./search-index.ts";

export interface WriterRequest {
  query: string;
  /** Cited as [1], [2] … in this order. */
  documents: FoundDocument[];
  language: "en" | "ko";
  signal?: AbortSignal | undefined;
}

export interface ReportWriter {
  /** Findings, as Markdown list items with their citations. */
  analyze(ask: WriterRequest): Promise<string>;
  /** The body of the report, in Markdown, with citations. */
  write(ask: WriterRequest & { analysis: string }): Promise<string>;
}

const REPORT_TEXTS = {
  en: { report: "Research report", sources: "Sources", nothing: "No document of the folder answers this." },
  ko: { report: "연구 보고서", sources: "출처", nothing: "폴더에 이 질문에 답하는 문서가 없습니다." },
};

/** The whole report: title, body, and the documents that its citations mean. */
export function addSources(body: string, { query, documents, language }: WriterRequest): string {
  const words = REPORT_TEXTS[language];
  const sources = documents.flatMap(({ document, title }, at) =>
    body.includes(`[${at + 1}]`) ? [`- [${at + 1}] ${title} (\`${document}\`)`] : [],
  );
  const list = sources.length === 0 ? "" : `\n\n## ${words.sources}\n\n${sources.join("\n")}`;
  return `# ${words.report}: ${query}\n\n${body}${list}\n`;
}

export function getNothingFoundText({ language }: WriterRequest): string {
  return REPORT_TEXTS[language].nothing;
}

/** Without the citations of documents that there are not: a model may make them up. */
export function removeUnknownCitations(text: string, count: number): string {
  return text.replaceAll(/\s?\[(\d+)\]/g, (citation, number: string) => {
    const at = Number(number);
    return at >= 1 && at <= count ? citation : "";
  });
}
