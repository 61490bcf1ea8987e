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
import type { McpTools } from "colloquy/mcp";
import type { Found, Results } from "./search.ts";
import { isKorean } from "./words.ts";
import { type Ask, nothingFound, withSources, type Writer } from "./writer.ts";

export const SKILLS = ["web_research", "report_generation"] as const;
export type Skill = (typeof SKILLS)[number];

/** What the nodes tell while they work. */
export type Told =
  | { event: "search_complete" | "analysis_complete" | "report_complete"; message: string }
  | { what: "results"; results: Results; language: Ask["language"] }
  | { what: "analysis" | "report"; markdown: string; language: Ask["language"] };

const State = Annotation.Root({
  query: Annotation<string>,
  /** What was asked for: `web_research` needs no report. */
  skill: Annotation<Skill>,
  documents: Annotation<Found[]>,
  analysis: Annotation<string>,
  report: Annotation<string>,
});
type State = typeof State.State;

export interface Parts {
  tools: McpTools;
  writer: Writer;
  checkpointer: BaseCheckpointSaver;
  /** Each node takes at least so long, for those who want to watch. */
  paceMs?: number;
}

export function researchGraph({ tools, writer, checkpointer, paceMs = 0 }: Parts) {
  const paced = async ({ signal }: LangGraphRunnableConfig): Promise<void> => {
    await setTimeout(paceMs, undefined, { signal });
  };

  async function search({ query }: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const { signal } = config;
    const found = await tools.call("hybrid_search", { query, limit: 20 }, signal ? { signal } : {});
    if (found.isError) throw new Error(`hybrid_search failed: ${found.text}`);
    const results = found.data as unknown as Results;
    tell(config, { what: "results", results, language: languageOf(query) });
    tell(config, { event: "search_complete", message: `Found ${results.results.length} documents` });
    return { documents: results.results };
  }

  async function analyze(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const ask = askOf(state, config);
    const analysis = ask.documents.length === 0 ? nothingFound(ask) : await writer.analyze(ask);
    if (state.skill === "web_research") {
      tell(config, { what: "analysis", markdown: analysis, language: ask.language });
    }
    tell(config, { event: "analysis_complete", message: "Analysis done" });
    return { analysis };
  }

  async function generate(state: State, config: LangGraphRunnableConfig): Promise<Partial<State>> {
    await paced(config);
    const ask = askOf(state, config);
    const { analysis } = state;
    const body = ask.documents.length === 0 ? analysis : await writer.write({ ...ask, analysis });
    const report = withSources(body, ask);
    tell(config, { what: "report", markdown: report, language: ask.language });
    tell(config, { event: "report_complete", message: "Report generated" });
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

function askOf({ query, documents }: State, { signal }: LangGraphRunnableConfig): Ask {
  return { query, documents, language: languageOf(query), signal };
}

function languageOf(query: string): Ask["language"] {
  return isKorean(query) ? "ko" : "en";
}

function tell({ writer }: LangGraphRunnableConfig, told: Told): void {
  writer?.(told);
}
