/**
 * Research assistant over a folder of documents: a LangGraph workflow that is served as an A2A agent and
 * calls a tool over MCP.
 *
 *     colloquy serve examples/research
 *     colloquy send http://127.0.0.1:4120/a2a/research "What is the difference between MCP and A2A?" --stream
 */
import { fileURLToPath } from "node:url";
import { artifact, data, file, status, text, type JsonObject, type AgentYield } from "colloquy";
import { fromLangGraph } from "colloquy/langgraph";
import { createMcpToolClient } from "colloquy/mcp";
import { SqliteCheckpoints } from "./sqlite-checkpoints.ts";
import { extractiveWriter } from "./extractive-writer.ts";
import { createResearchGraph, SKILLS, type Skill, type GraphEvent } from "./graph.ts";
import { createLanguageModel, MODEL_VARIABLES } from "./models.ts";
import { createModelWriter } from "./model-writer.ts";
import type { SearchResults } from "./search-index.ts";

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { env } = process;
const model = env["RESEARCH_MODEL"];

/**
 * The `hybrid_search` tool runs in a separate process. The process receives only the environment variables
 * that its embedding model needs.
 */
const tools = createMcpToolClient({
  command: process.execPath,
  args: [
    ...process.execArgv,
    resolvePath("search-server.ts"),
    env["RESEARCH_FOLDER"] ?? resolvePath("documents"),
  ],
  env: Object.fromEntries(MODEL_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
});

const graph = createResearchGraph({
  tools,
  writer: model ? createModelWriter(await createLanguageModel(model)) : extractiveWriter,
  checkpointer: new SqliteCheckpoints(env["RESEARCH_THREADS"] ?? ".colloquy/research-threads.db"),
  paceMs: Number(env["RESEARCH_PACE_MS"] ?? 0),
});

export const agent = fromLangGraph(graph, {
  name: "Research Assistant",
  description:
    "Researches a folder of documents and writes reports with citations (멀티소스 리서치 및 보고서 생성 전문 에이전트)",
  version: "1.0.0",
  defaultInputModes: ["text/plain", "application/json"],
  defaultOutputModes: ["text/plain", "application/json", "text/markdown"],
  skills: [
    {
      id: "web_research",
      name: "web_research",
      description: "Searches the documents and analyzes the results (정보 검색 및 분석)",
      tags: ["research", "search"],
      examples: ["What is the difference between MCP and A2A?", "MCP와 A2A의 차이점을 설명해주세요"],
      inputModes: ["text/plain", "application/json"],
      outputModes: ["text/plain", "application/json"],
    },
    {
      id: "report_generation",
      name: "report_generation",
      description: "Writes a structured report, also as a Markdown file (구조화된 보고서 생성)",
      tags: ["research", "report"],
      examples: ["Write a report on how agents follow long-running tasks"],
      inputModes: ["text/plain", "application/json"],
      outputModes: ["text/plain", "text/markdown"],
    },
  ],
  toGraphInput: ({ text: query, message }) => ({ query, skill: parseSkill(message.metadata?.["skill"]) }),
  // The graph emits its results while it runs, so there is no separate answer.
  toAnswer: () => undefined,
  toProgress: (event) => toAgentYield(event as GraphEvent),
  afterRestart: "resume",
});

/** Returns the requested skill. Without a skill, callers receive the search results and the report. */
function parseSkill(name: unknown): Skill {
  return SKILLS.find((skill) => skill === name) ?? "report_generation";
}

const ARTIFACT_NAMES = {
  results: { en: "Search results", ko: "검색 결과" },
  analysis: { en: "Analysis", ko: "분석 결과" },
  report: { en: "Research report", ko: "연구 보고서" },
};

/** Converts a graph event to agent output: progress becomes a status, and results become artifacts. */
function toAgentYield(graphEvent: GraphEvent): AgentYield {
  if ("event" in graphEvent) return status(text(graphEvent.message, { event: graphEvent.event }));
  const { what, language } = graphEvent;
  const info = { id: what, name: ARTIFACT_NAMES[what][language] };
  if (what === "results") return artifact(info, data(summarizeResults(graphEvent.results)));
  if (what === "analysis") return artifact(info, graphEvent.markdown);
  const asFile = file(Buffer.from(graphEvent.markdown), {
    filename: "report.md",
    mediaType: "text/markdown",
  });
  return artifact(info, graphEvent.markdown, asFile);
}

/** Returns the search results without their texts. */
function summarizeResults({ mode, results }: SearchResults): JsonObject {
  const documents = results.map(({ document, title, score, passages }) => ({
    document,
    title,
    score: Math.round(score * 100) / 100,
    headings: passages.map(({ heading }) => heading),
  }));
  return { mode, documents };
}
