-- Neovim 0.11 and newer: with this folder in 'runtimepath', `vim.lsp.enable("stepzero")`.
return {
  cmd = { "stepzero", "lsp" },
  filetypes = { "python" },
  root_markers = { "stepzero.toml", "pyproject.toml", "setup.py", ".git" },
}
