import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { repairRoles } from "./repair-roles.ts";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (!import.meta.env.SSR) repairRoles();
  },
} satisfies Theme;
