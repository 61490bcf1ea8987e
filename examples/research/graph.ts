/**
 * The research workflow: search → analyze → generate. Each step is followed by a checkpoint, from which the
 * workflow can resume.
 */
import { setTimeout } from "node:timers/promises";
import {
  Annotation,
  type BaseCheckpointSaver,
  END,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { McpToolClient } from "colloquy/mcp";
import type { FoundDocument, SearchResults } from "./search-index.ts";
import { isKorean } from "./tokenizer.ts";
import { type WriterRequest, getNothingFoundText, addSources, type ReportWriter } from "./report-writer.ts";

export const SKILLS = ["web_research", "report_generation"] as const;
export type Skill = (typeof SKILLS)[number];

/** An event that a node emits while it runs. */
export type GraphEvent =
  | { event: "search_complete" | "analysis_complete" | "report_complete"; message: string }
  | { what: "results"; results: SearchResults; language: WriterRequest["language"] }
  | { what: "analysis" | "report"; markdown: string; language: WriterRequest["language"] };

const State = Annotation.Root({
  query: Annotation<string>,
  /** The requested skill. `web_research` needs no report. */
  skill: Annotation<Skill>,
  documents: Annotation<FoundDocument[]>,
  analysis: Annotation<string>,
  report: Annotation<string>,
});
type State = typeof State.State;

export interface GraphDependencies {
  tools: McpToolClient;
  writer: ReportWriter;
  checkpointer: BaseCheckpointSaver;
  /** Minimum duration of each node in milliseconds, for demonstrations. Default: 0. */
  paceMs?: number;
}

export function createResearchGraph({ tools, writer, checkpointer, paceMs = 0 }: GraphDependencies) {
  const waitForPace = async ({ signal }: LangGraphRunnableConfig): Promise<void> => {
    await setTimeout(paceMs, undefined, { signal });
  };

  async function search({ query }: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await waitForPace(config);
    const { signal } = config;
    const found = await tools.callTool("hybrid_search", { query, limit: 20 }, signal ? { signal } : {});
    if (found.isError) throw new Error(`hybrid_search failed: ${found.text}`);
    const results = found.data as unknown as SearchResults;
    emitEvent(config, { what: "results", results, language: detectLanguage(query) });
    emitEvent(config, { event: "search_complete", message: `Found ${results.results.length} documents` });
    return { documents: results.results };
  }

  async function analyze(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await waitForPace(config);
    const request = createWriterRequest(state, config);
    const analysis =
      request.documents.length === 0 ? getNothingFoundText(request) : await writer.analyze(request);
    if (state.skill === "web_research") {
      emitEvent(config, { what: "analysis", markdown: analysis, language: request.language });
    }
    emitEvent(config, { event: "analysis_complete", message: "Analysis done" });
    return { analysis };
  }

  async function generate(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await waitForPace(config);
    const request = createWriterRequest(state, config);
    const { analysis } = state;
    const body = request.documents.length === 0 ? analysis : await writer.write({ ...request, analysis });
    const report = addSources(body, request);
    emitEvent(config, { what: "report", markdown: report, language: request.language });
    emitEvent(config, { event: "report_complete", message: "Report generated" });
    return { report };
  }

  return new StateGraph(State)
    .addNode("search", search)
    .addNode("analyze", analyze)
    .addNode("generate", generate)
    .addEdge(START, "search")
    .addEdge("search", "analyze")
    .addConditionalEdges("analyze", ({ skill }) => (skill === "web_research" ? END : "generate"), [
      "generate",
      END,
    ])
    .addEdge("generate", END)
    .compile({ checkpointer });
}

function createWriterRequest(
  { query, documents }: State,
  { signal }: LangGraphRunnableConfig,
): WriterRequest {
  return { query, documents, language: detectLanguage(query), signal };
}

function detectLanguage(query: string): WriterRequest["language"] {
  return isKorean(query) ? "ko" : "en";
}

function emitEvent({ writer }: LangGraphRunnableConfig, event: GraphEvent): void {
  writer?.(event);
}
