-- require("stepzero").setup() starts the server for every file that it reads, in any Neovim from 0.7 on.
local M = {}

-- What lsp/stepzero.lua says is said once: newer versions of Neovim find that file themselves.
local function defaults()
  local here = debug.getinfo(1, "S").source:sub(2)
  return dofile(vim.fn.fnamemodify(here, ":p:h:h:h") .. "/lsp/stepzero.lua")
end

-- The nearest folder above the file that holds the first marker found; without one, the folder of the file.
local function root_of(path, markers)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  for _, marker in ipairs(markers) do
    local found = vim.fn.findfile(marker, vim.fn.fnameescape(folder) .. ";")
    if found == "" then
      found = vim.fn.finddir(marker, vim.fn.fnameescape(folder) .. ";")
    end
    if found ~= "" then
      return vim.fn.fnamemodify(found, ":p"):gsub("/$", ""):match("^(.*)/[^/]*$")
    end
  end
  return folder
end

-- Neovim 0.7 has no vim.lsp.start: one client for each root folder.
local clients = {}
local function attach(buffer, config)
  if vim.lsp.start then
    vim.api.nvim_buf_call(buffer, function() vim.lsp.start(config) end)
    return
  end
  local id = clients[config.root_dir]
  if not id or not vim.lsp.get_client_by_id(id) or vim.lsp.client_is_stopped(id) then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

-- Options: cmd, filetypes, root_markers, settings (the keys of stepzero.toml), and any other field of
-- |vim.lsp.start()|'s configuration, such as on_attach.
function M.setup(options)
  local config = vim.tbl_extend("force", defaults(), { name = "stepzero" }, options or {})
  if config.settings and not config.settings.stepzero then
    config.settings = { stepzero = config.settings }
  end
  if vim.lsp.config and vim.lsp.enable then
    vim.lsp.config("stepzero", config)
    vim.lsp.enable("stepzero")
    return
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("stepzero", { clear = true }),
    pattern = config.filetypes,
    callback = function(event)
      local path = vim.api.nvim_buf_get_name(event.buf)
      if path == "" or vim.bo[event.buf].buftype ~= "" then
        return
      end
      attach(event.buf, vim.tbl_extend("keep", { root_dir = root_of(path, config.root_markers) }, config))
    end,
  })
end

return M
