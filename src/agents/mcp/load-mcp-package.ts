/**
 * Awaits the import of an MCP package, and throws an error with the install command if the package is
 * missing.
 */
export async function loadMcpPackage<T>(name: "server" | "client", loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const packageName = `@modelcontextprotocol/${name}`;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(packageName)) throw cause;
    throw new Error(`MCP requires the package ${packageName}; install it with npm install ${packageName}`, {
      cause,
    });
  }
}
