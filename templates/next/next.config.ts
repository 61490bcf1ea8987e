import type { NextConfig } from "next";

const config: NextConfig = { serverExternalPackages: ["colloquy"] };
export default config;
