/**
 * Interface for report writers. A writer either uses a language model or quotes sentences of the documents.
 */
import type { FoundDocument } from "./search-index.ts";

export interface WriterRequest {
  query: string;
  /** Documents that are cited as [1], [2], and so on, in this order. */
  documents: FoundDocument[];
  language: "en" | "ko";
  signal?: AbortSignal | undefined;
}

export interface ReportWriter {
  /** Resolves with the findings as Markdown list items with citations. */
  analyze(request: WriterRequest): Promise<string>;
  /** Resolves with the body of the report in Markdown, with citations. */
  write(request: WriterRequest & { analysis: string }): Promise<string>;
}

const REPORT_TEXTS = {
  en: {
    report: "Research report",
    sources: "Sources",
    nothing: "No document in the folder answers this question.",
  },
  ko: { report: "연구 보고서", sources: "출처", nothing: "폴더에 이 질문에 답하는 문서가 없습니다." },
};

/** Returns the complete report: title, body, and cited documents. */
export function addSources(body: string, { query, documents, language }: WriterRequest): string {
  const texts = REPORT_TEXTS[language];
  const sources = documents.flatMap(({ document, title }, at) =>
    body.includes(`[${at + 1}]`) ? [`- [${at + 1}] ${title} (\`${document}\`)`] : [],
  );
  const list = sources.length === 0 ? "" : `\n\n## ${texts.sources}\n\n${sources.join("\n")}`;
  return `# ${texts.report}: ${query}\n\n${body}${list}\n`;
}

export function getNothingFoundText({ language }: WriterRequest): string {
  return REPORT_TEXTS[language].nothing;
}

/** Removes citations of documents that do not exist, because a model may invent them. */
export function removeUnknownCitations(text: string, count: number): string {
  return text.replaceAll(/\s?\[(\d+)\]/g, (citation, number: string) => {
    const at = Number(number);
    return at >= 1 && at <= count ? citation : "";
  });
}
