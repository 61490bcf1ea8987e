/** Loads what MCP takes; says what to install when it is not there. */
export async function loadMcpPackage<T>(name: "server" | "client", loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const packageName = `@modelcontextprotocol/${name}`;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(packageName)) throw cause;
    throw new Error(`MCP needs the package ${packageName}: npm install ${packageName}`, { cause });
  }
}
