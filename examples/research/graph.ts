/** The workflow: search → analyze → generate, with a checkpoint after each, so that it goes on behind the last. */
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

/** What the nodes tell while they work. */
export type GraphEvent =
  | { event: "search_complete" | "analysis_complete" | "report_complete"; message: string }
  | { what: "results"; results: SearchResults; language: WriterRequest["language"] }
  | { what: "analysis" | "report"; markdown: string; language: WriterRequest["language"] };

const State = Annotation.Root({
  query: Annotation<string>,
  /** What was asked for: `web_research` needs no report. */
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
  /** Each node takes at least so long, for those who want to watch. */
  paceMs?: number;
}

export function createResearchGraph({ tools, writer, checkpointer, paceMs = 0 }: GraphDependencies) {
  const paced = async ({ signal }: LangGraphRunnableConfig): Promise<void> => {
    await setTimeout(paceMs, undefined, { signal });
  };

  async function search({ query }: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const { signal } = config;
    const found = await tools.callTool("hybrid_search", { query, limit: 20 }, signal ? { signal } : {});
    if (found.isError) throw new Error(`hybrid_search failed: ${found.text}`);
    const results = found.data as unknown as SearchResults;
    emitEvent(config, { what: "results", results, language: detectLanguage(query) });
    emitEvent(config, { event: "search_complete", message: `Found ${results.results.length} documents` });
    return { documents: results.results };
  }

  async function analyze(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const ask = createWriterRequest(state, config);
    const analysis = ask.documents.length === 0 ? getNothingFoundText(ask) : await writer.analyze(ask);
    if (state.skill === "web_research") {
      emitEvent(config, { what: "analysis", markdown: analysis, language: ask.language });
    }
    emitEvent(config, { event: "analysis_complete", message: "Analysis done" });
    return { analysis };
  }

  async function generate(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const ask = createWriterRequest(state, config);
    const { analysis } = state;
    const body = ask.documents.length === 0 ? analysis : await writer.write({ ...ask, analysis });
    const report = addSources(body, ask);
    emitEvent(config, { what: "report", markdown: report, language: ask.language });
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

function emitEvent({ writer }: LangGraphRunnableConfig, told: GraphEvent): void {
  writer?.(told);
}
