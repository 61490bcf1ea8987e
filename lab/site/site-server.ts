import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { createGzip } from "node:zlib";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/**
 * Serves the built site on a free port, compressed as static hosts do.
 *
 * @param base Path prefix of the site, which begins and ends with a slash.
 */
export async function startSiteServer(
  folder: string,
  base = "/",
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname);
    const inside = path.startsWith(base) ? path.slice(base.length - 1) : undefined;
    const file = join(folder, normalize(inside?.endsWith("/") ? `${inside}index.html` : (inside ?? "")));
    if (!file.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, { "content-type": "text/plain" }).end("Not found");
      return;
    }
    const type = MEDIA_TYPES[extname(file)] ?? "application/octet-stream";
    const isText = !type.startsWith("image/png");
    response.writeHead(200, { "content-type": type, ...(isText ? { "content-encoding": "gzip" } : {}) });
    const body = createReadStream(file);
    if (isText) body.pipe(createGzip()).pipe(response);
    else body.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${base.slice(0, -1)}`, server };
}
