-- The program of an active Python environment (pip install stepzero) comes before the one on the PATH.
local function program()
  for _, variable in ipairs({ "VIRTUAL_ENV", "CONDA_PREFIX" }) do
    local file = (vim.env[variable] or "") .. "/bin/stepzero"
    if vim.env[variable] and vim.fn.executable(file) == 1 then
      return file
    end
  end
  return "stepzero"
end

-- Neovim 0.11 and newer: with this folder in 'runtimepath', `vim.lsp.enable("stepzero")`.
return {
  cmd = { program(), "lsp" },
  filetypes = { "python", "json", "jsonc", "yaml", "sh", "bash", "make", "dockerfile" },
  root_markers = { "stepzero.toml", "pyproject.toml", "setup.py", ".git" },
}
