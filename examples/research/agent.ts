/**
 * A research assistant over a folder of documents: a LangGraph workflow as an A2A agent, with a tool over MCP.
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

/** `hybrid_search` is in a process of its own; of our variables it gets those that its embedding model needs. */
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
      description: "Searches the documents and analyses what is found (정보 검색 및 분석)",
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
  // Everything is told while the graph works.
  toAnswer: () => undefined,
  toProgress: (told) => toAgentYield(told as GraphEvent),
  afterRestart: "resume",
});

/** A caller who names no skill gets all: the search results and the report. */
function parseSkill(named: unknown): Skill {
  return SKILLS.find((skill) => skill === named) ?? "report_generation";
}

const ARTIFACT_NAMES = {
  results: { en: "Search results", ko: "검색 결과" },
  analysis: { en: "Analysis", ko: "분석 결과" },
  report: { en: "Research report", ko: "연구 보고서" },
};

/** The events of the graph as what an agent says: progress is a status, what came out of it an artifact. */
function toAgentYield(told: GraphEvent): AgentYield {
  if ("event" in told) return status(text(told.message, { event: told.event }));
  const { what, language } = told;
  const about = { id: what, name: ARTIFACT_NAMES[what][language] };
  if (what === "results") return artifact(about, data(summarizeResults(told.results)));
  if (what === "analysis") return artifact(about, told.markdown);
  const asFile = file(Buffer.from(told.markdown), { filename: "report.md", mediaType: "text/markdown" });
  return artifact(about, told.markdown, asFile);
}

/** What was found, without its texts. */
function summarizeResults({ mode, results }: SearchResults): JsonObject {
  const documents = results.map(({ document, title, score, passages }) => ({
    document,
    title,
    score: Math.round(score * 100) / 100,
    headings: passages.map(({ heading }) => heading),
  }));
  return { mode, documents };
}
