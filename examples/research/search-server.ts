/**
 * MCP server over stdio with one tool, `hybrid_search`, over the documents in a folder:
 *
 *     node search-server.ts FOLDER
 *
 * It always searches the full text, and also vectors if `EMBEDDING_MODEL` is set. The folder is read once at
 * startup.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { createEmbedder } from "./models.ts";
import { readPassages } from "./passages.ts";
import { SearchIndex } from "./search-index.ts";

const [folder = ""] = process.argv.slice(2);
const embeddingModel = process.env["EMBEDDING_MODEL"];
const searchIndex = await SearchIndex.create(
  await readPassages(folder),
  embeddingModel ? await createEmbedder(embeddingModel) : undefined,
);

const inputSchema = z.object({
  query: z.string().describe("Search query"),
  limit: z.number().int().min(1).max(100).default(20).describe("Maximum number of documents"),
});
const outputSchema = z.object({
  mode: z.enum(["fulltext", "hybrid"]).describe("hybrid if the search also used vectors"),
  results: z.array(
    z.object({
      document: z.string(),
      title: z.string(),
      score: z.number(),
      passages: z.array(z.object({ heading: z.string(), text: z.string(), score: z.number() })),
    }),
  ),
});

serveStdio(() => {
  const server = new McpServer({ name: "documents", version: "1.0.0" });
  server.registerTool(
    "hybrid_search",
    { description: "Finds documents with their best matching passages", inputSchema, outputSchema },
    async ({ query, limit }) => {
      const found = await searchIndex.search(query, limit);
      return { content: [{ type: "text", text: JSON.stringify(found) }], structuredContent: { ...found } };
    },
  );
  return server;
});
