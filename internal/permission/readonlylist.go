package permission

// readers knows the programs that only read, apart from find, git, test and
// printf. What is left out here asks: -o and --compress-program of sort,
// --files0-from (it reads names from a file), the output of uniq and tree, -C of
// file, --pre of rg, -L of ls, what else follows links out of the workspace, and
// every option that nobody has looked at.
func readers(name string) (reader, bool) {
	switch name {
	case "true", "false", ":", "echo":
		return reader{words: wordsAreText, harmless: true, plain: true}, true
	case "pwd":
		return reader{flags: "LP"}, true
	case "ls":
		return lsReader, true
	case "cat":
		return reader{flags: "AbeEnstTuv", harmless: true, long: " --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank "}, true
	case "head", "tail":
		return reader{
			flags: "qvzfFr", texts: "ncs", number: true, harmless: true,
			long: " --lines: --bytes: --quiet --silent --verbose --zero-terminated --follow=? --retry --sleep-interval: ",
		}, true
	case "wc":
		return reader{flags: "lwcmL", long: " --lines --words --chars --bytes --max-line-length --total= "}, true
	case "grep", "egrep", "fgrep":
		return grepReader, true
	case "rg":
		return rgReader, true
	case "stat":
		return reader{flags: "Ltfx", texts: "c", long: " --format= --printf= --dereference --file-system --terse "}, true
	case "file":
		return reader{flags: "biIhLkNnpr0", texts: "F", long: " --brief --mime --mime-type --mime-encoding --no-dereference --keep-going --extension "}, true
	case "du":
		return reader{
			flags: "abchksmxlS0", texts: "dtB",
			long: " --all --bytes --total --human-readable --summarize --one-file-system --apparent-size --max-depth: --threshold= --block-size= --exclude: --time=? --si --inodes ",
		}, true
	case "df":
		return reader{flags: "hHkTialPm", texts: "tx", long: " --human-readable --si --print-type --inodes --all --local --portability --total --output=? --type= --exclude-type= "}, true
	case "date":
		return reader{words: wordsFormat, flags: "uR", texts: "d", files: "r", some: "I", long: " --utc --universal --date: --iso-8601=? --rfc-3339= --rfc-email --rfc-2822 "}, true
	case "which":
		return reader{flags: "as", long: " --all "}, true
	case "basename", "dirname":
		return reader{words: wordsAreText, flags: "az", texts: "s", long: " --multiple --suffix= --zero "}, true
	}
	return textReaders(name)
}

// textReaders are the programs that work on lines.
func textReaders(name string) (reader, bool) {
	switch name {
	case "sort":
		return reader{
			flags: "bdfgiMhnRrVcCmsuz", texts: "kt",
			long: " --reverse --numeric-sort --unique --key: --field-separator: --human-numeric-sort --version-sort --ignore-case --general-numeric-sort --month-sort --stable " +
				"--check=? --zero-terminated --ignore-leading-blanks --dictionary-order --merge --ignore-nonprinting --sort= ",
		}, true
	case "uniq":
		return reader{flags: "cduiz", texts: "fsw", most: 1, long: " --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --zero-terminated "}, true
	case "cut":
		return reader{flags: "nsz", texts: "bcdf", long: " --bytes= --characters= --fields= --delimiter= --output-delimiter= --only-delimited --complement --zero-terminated "}, true
	case "tr":
		return reader{words: wordsAreText, harmless: true, flags: "cCdst", long: " --complement --delete --squeeze-repeats --truncate-set1 "}, true
	case "diff":
		return reader{
			flags: "uqsyiwbBEZaTtdpceN", texts: "UCWI", noDirs: true, number: true,
			long: " --unified=? --context=? --brief --report-identical-files --side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines " +
				"--ignore-trailing-space --text --color=? --width= --suppress-common-lines --strip-trailing-cr --minimal --label: --normal --show-c-function ",
		}, true
	case "cmp":
		return reader{flags: "slb", texts: "ni", long: " --silent --quiet --verbose --print-bytes --bytes= --ignore-initial= "}, true
	case "tree":
		return reader{
			flags: "adfishDFCnpugJXtrcvUNqQ", texts: "LPI", apart: true, permutes: true,
			long: " --du --prune --noreport --dirsfirst --filesfirst --filelimit= --gitignore --si --inodes --device --matchdirs --ignore-case ",
		}, true
	}
	return reader{}, false
}

var lsReader = reader{
	harmless: true, undashed: true, number: true, flags: "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1", texts: "ITw",
	long: " --all --almost-all --author --escape --block-size= --ignore-backups --color=? --directory --dired --classify=? --file-type --format= --full-time " +
		"--group-directories-first --no-group --human-readable --si --hide= --hyperlink=? --indicator-style= --inode --ignore: --kibibytes --literal --numeric-uid-gid " +
		"--quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero ",
}

var grepReader = reader{
	words: wordsSearch, number: true, flags: "EFGPivwxclLnoqshHraIbzZUuTy", texts: "emABC",
	long: " --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches " +
		"--files-without-match --line-number --only-matching --quiet --silent --no-messages --no-filename --with-filename --recursive --text --binary-files= --byte-offset --null-data --null " +
		"--initial-tab --line-buffered --color=? --colour=? --include: --exclude: --exclude-dir: --max-count: --after-context: --before-context: --context: --regexp: --label= ",
	unnamed: func(o options) bool { return o.has("-r") || o.has("--recursive") },
}

var rgReader = reader{
	words: wordsSearch, permutes: true, flags: "isSvwxclnNoqFPUuHIa0p.", texts: "egtTmABCdMrjE",
	long: " --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files --files-with-matches --files-without-match --line-number " +
		"--no-line-number --only-matching --quiet --fixed-strings --pcre2 --multiline --multiline-dotall --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --with-filename " +
		"--no-filename --heading --no-heading --text --binary --null --column --no-column --json --stats --trim --vimgrep --type-list --no-messages --no-config --pretty --passthru --crlf " +
		"--glob: --iglob: --type: --type-not: --max-count: --max-depth: --max-columns: --max-filesize: --after-context: --before-context: --context: --regexp: --replace: --sort: --sortr: " +
		"--color: --colors: --threads: --encoding: --context-separator: --field-match-separator: --one-file-system ",
	unnamed: func(o options) bool { return !o.has("--files") && !o.has("--type-list") },
}
