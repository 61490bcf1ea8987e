/**
 * An MCP host to be killed, which uses MCP Tasks through the official client. The host calls the tool of the
 * server at `url` and saves the reference of the task. If a host has already saved a reference, the next host
 * resumes the task instead. The host reports the final result.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { SerializedTaskReference } from "@modelcontextprotocol/ext-tasks/client";
import { connectMcpTaskHost } from "../../src/agents/mcp/tasks/mcp-task-host.fixture.ts";

const [url = "", file = ""] = process.argv.slice(2);
const host = await connectMcpTaskHost(url);
const { session } = host;
const execution = existsSync(file)
  ? await session.resumeTask(JSON.parse(readFileSync(file, "utf8")) as SerializedTaskReference)
  : await session.callTool("worker", { message: "Work" });
if (execution.kind === "task") writeFileSync(file, JSON.stringify(execution.serializeReference()));
process.send?.({ kind: execution.kind });
const { outcome } = await execution.settle();
process.send?.({ outcome });
await host.close();
process.disconnect();
